module rookery.dev/bed/k3d

go 1.25.0

require github.com/k3d-io/k3d/v5 v5.9.0

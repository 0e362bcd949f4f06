module rookery.dev/bed/k3s

go 1.25.0

require github.com/k3s-io/k3s v1.35.0-rc1.0.20251218152248-a6c6cd15c0c4

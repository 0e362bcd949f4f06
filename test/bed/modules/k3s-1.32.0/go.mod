module rookery.dev/bed/k3s-1.32.0

go 1.25.0

require github.com/k3s-io/k3s v1.32.1-0.20250107171309-cca8facaa33a

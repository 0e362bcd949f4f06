module rookery.dev/bed/k3s-1.32.0-rc1

go 1.25.0

require github.com/k3s-io/k3s v1.32.0-rc1.0.20241220224140-68fbd1a6b543

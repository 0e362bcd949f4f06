module rookery.dev/bed/kine

go 1.25.0

require github.com/k3s-io/kine v0.14.10

//go:build tools

// Package tools names the mains that the bed builds, so that `go mod tidy` keeps what they need.
package tools

import (
	_ "go.etcd.io/etcd/server/v3"
)

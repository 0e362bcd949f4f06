//go:build tools

// Package tools names the mains that the bed builds, so that `go mod tidy` keeps what they need.
package tools

import (
	_ "github.com/loft-sh/vcluster/cmd/vcluster"
	_ "github.com/loft-sh/vcluster/cmd/vclusterctl"
)

//go:build tools

// Package tools names the mains that the bed builds, so that `go mod tidy` keeps what they need.
package tools

import (
	_ "sigs.k8s.io/cluster-api/core"
	_ "sigs.k8s.io/cluster-api/cmd/clusterctl"
	_ "sigs.k8s.io/cluster-api/bootstrap/kubeadm"
	_ "sigs.k8s.io/cluster-api/controlplane/kubeadm"
)

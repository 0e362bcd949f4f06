package main

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// typed makes an empty object of a built-in kind, with its apiVersion and kind set.
func typed(kind string) (runtime.Object, bool) {
	switch kind {
	case "Deployment":
		return &appsv1.Deployment{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: kind}}, true
	case "Pod":
		return &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: kind}}, true
	case "Service":
		return &corev1.Service{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: kind}}, true
	case "ConfigMap":
		return &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: kind}}, true
	}
	return nil, false
}

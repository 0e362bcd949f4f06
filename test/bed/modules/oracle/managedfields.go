package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

var started = time.Now().Add(-time.Minute)

var builtin = applyconfigurations.NewTypeConverter(scheme.Scheme)

func managedFields(c Case) Answer {
	live, err := decode(c, c.Live)
	if err != nil {
		return Answer{Error: err.Error()}
	}
	manager, err := fieldManager(c)
	if err != nil {
		return Answer{Error: err.Error()}
	}
	var result runtime.Object
	if c.Op == "apply" {
		config := &unstructured.Unstructured{}
		if err := json.Unmarshal(c.Object, config); err != nil {
			return Answer{Error: err.Error()}
		}
		result, err = manager.Apply(live, config, c.Manager, c.Force)
	} else {
		var object runtime.Object
		if object, err = decode(c, c.Object); err == nil {
			result = manager.UpdateNoErrors(live, object, c.Manager)
		}
	}
	if err != nil {
		return failure(err)
	}
	return encode(result)
}

func gvk(c Case) schema.GroupVersionKind {
	if c.Kind == "" {
		return schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Thing"}
	}
	object, _ := typed(c.Kind)
	return object.GetObjectKind().GroupVersionKind()
}

func fieldManager(c Case) (*managedfields.FieldManager, error) {
	kind := gvk(c)
	reset := fieldpath.NewSet()
	for _, path := range c.Reset {
		parts := make([]interface{}, len(path))
		for i := range path {
			parts[i] = path[i]
		}
		reset.Insert(fieldpath.MakePathOrDie(parts...))
	}
	filters := map[fieldpath.APIVersion]fieldpath.Filter{}
	if len(c.Reset) > 0 {
		filters[fieldpath.APIVersion(kind.GroupVersion().String())] = fieldpath.NewExcludeSetFilter(reset)
	}
	if c.Kind != "" {
		return managedfields.NewDefaultFieldManager(builtin, scheme.Scheme, scheme.Scheme, scheme.Scheme, kind, kind.GroupVersion(), c.Subresource, filters)
	}
	var root spec.Schema
	if err := json.Unmarshal(c.Schema, &root); err != nil {
		return nil, err
	}
	root.AddExtension("x-kubernetes-group-version-kind", []interface{}{
		map[string]interface{}{"group": kind.Group, "version": kind.Version, "kind": kind.Kind},
	})
	converter, err := managedfields.NewTypeConverter(map[string]*spec.Schema{"thing": &root}, false)
	if err != nil {
		return nil, err
	}
	return managedfields.NewDefaultCRDFieldManager(converter, same{}, same{}, same{}, kind, kind.GroupVersion(), c.Subresource, filters)
}

// same is what conversion, defaulting and creation are for custom resources with one version.
type same struct{}

func (same) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}
func (same) Convert(_, _, _ interface{}) error { return errors.New("not used") }
func (same) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}
func (same) Default(runtime.Object) {}
func (same) New(schema.GroupVersionKind) (runtime.Object, error) {
	return &unstructured.Unstructured{Object: map[string]interface{}{}}, nil
}

func decode(c Case, data []byte) (runtime.Object, error) {
	if c.Kind == "" {
		object := &unstructured.Unstructured{}
		if len(data) == 0 || string(data) == "null" {
			object.Object = map[string]interface{}{}
			object.SetGroupVersionKind(gvk(c))
			return object, nil
		}
		return object, json.Unmarshal(data, object)
	}
	object, ok := typed(c.Kind)
	if !ok {
		return nil, fmt.Errorf("unknown kind %s", c.Kind)
	}
	if len(data) == 0 || string(data) == "null" {
		return object, nil
	}
	return object, json.Unmarshal(data, object)
}

func encode(object runtime.Object) Answer {
	data, err := json.Marshal(object)
	if err != nil {
		return Answer{Error: err.Error()}
	}
	var result map[string]interface{}
	if err := json.Unmarshal(data, &result); err != nil {
		return Answer{Error: err.Error()}
	}
	entries, _, _ := unstructured.NestedSlice(result, "metadata", "managedFields")
	for _, entry := range entries {
		e := entry.(map[string]interface{})
		if text, ok := e["time"].(string); ok {
			if t, err := time.Parse(time.RFC3339, text); err == nil && t.After(started) {
				e["time"] = "NOW"
			}
		}
	}
	if entries != nil {
		result["metadata"].(map[string]interface{})["managedFields"] = entries
	}
	answer := Answer{Result: result}
	accessor, err := meta.Accessor(object)
	if err != nil {
		return Answer{Error: err.Error()}
	}
	for _, entry := range accessor.GetManagedFields() {
		answer.Fields = append(answer.Fields, string(entry.FieldsV1.Raw))
	}
	return answer
}

func failure(err error) Answer {
	answer := Answer{Error: err.Error()}
	var status *apierrors.StatusError
	if errors.As(err, &status) && status.ErrStatus.Details != nil {
		answer.Causes = status.ErrStatus.Details.Causes
	}
	return answer
}

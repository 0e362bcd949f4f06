package main

import (
	"encoding/json"
	"fmt"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	kjson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

func jsonPatch(c Case) Answer {
	patch, err := jsonpatch.DecodePatch(c.Patch)
	if err != nil {
		return Answer{Error: err.Error()}
	}
	result, err := patch.Apply(c.Live)
	return raw(result, err)
}

func mergePatch(c Case) Answer {
	result, err := jsonpatch.MergePatch(c.Live, c.Patch)
	return raw(result, err)
}

func raw(result []byte, err error) Answer {
	if err != nil {
		return Answer{Error: err.Error()}
	}
	return Answer{Result: json.RawMessage(result)}
}

func strategicPatch(c Case) Answer {
	live, patch := map[string]interface{}{}, map[string]interface{}{}
	if err := kjson.Unmarshal(c.Live, &live); err != nil {
		return Answer{Error: err.Error()}
	}
	if err := kjson.Unmarshal(c.Patch, &patch); err != nil {
		return Answer{Error: err.Error()}
	}
	result, err := mergeStrategically(c, live, patch)
	if err != nil {
		return Answer{Error: err.Error()}
	}
	return Answer{Result: result}
}

func mergeStrategically(c Case, live, patch map[string]interface{}) (map[string]interface{}, error) {
	if c.Kind != "" {
		object, ok := typed(c.Kind)
		if !ok {
			return nil, fmt.Errorf("unknown kind %s", c.Kind)
		}
		return strategicpatch.StrategicMergeMapPatch(live, patch, object)
	}
	var schema spec.Schema
	if err := json.Unmarshal(c.Schema, &schema); err != nil {
		return nil, err
	}
	return strategicpatch.StrategicMergeMapPatchUsingLookupPatchMeta(live, patch, strategicpatch.PatchMetaFromOpenAPIV3{Schema: &schema})
}

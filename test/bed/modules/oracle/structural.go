package main

import (
	"context"
	stdjson "encoding/json"
	"sort"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func internalSchema(raw stdjson.RawMessage) (*apiextensions.JSONSchemaProps, error) {
	var external apiextensionsv1.JSONSchemaProps
	if err := stdjson.Unmarshal(raw, &external); err != nil {
		return nil, err
	}
	var internal apiextensions.JSONSchemaProps
	err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&external, &internal, nil)
	return &internal, err
}

func structuralOf(raw stdjson.RawMessage) (*structuralschema.Structural, error) {
	internal, err := internalSchema(raw)
	if err != nil {
		return nil, err
	}
	return structuralschema.NewStructural(internal)
}

// Judged is an object as it would be stored, and what is wrong with it.
type Judged struct {
	Object interface{} `json:"object"`
	Errors []string    `json:"errors"`
}

// judge prunes, defaults and validates an object as a write of a custom resource does.
func judge(c Case) Answer {
	internal, err := internalSchema(c.Schema)
	if err != nil {
		return Answer{Error: err.Error()}
	}
	structural, err := structuralschema.NewStructural(internal)
	if err != nil {
		return Answer{Error: err.Error()}
	}
	validator, _, err := validation.NewSchemaValidator(internal)
	if err != nil {
		return Answer{Error: err.Error()}
	}
	var object map[string]interface{}
	if err := json.Unmarshal(c.Object, &object); err != nil {
		return Answer{Error: err.Error()}
	}
	pruning.Prune(object, structural, true)
	defaulting.PruneNonNullableNullsWithoutDefaults(object, structural)
	defaulting.Default(object, structural)
	problems := validation.ValidateCustomResource(nil, object, validator)
	problems = append(problems, listtype.ValidateListSetsAndMaps(nil, structural, object)...)
	if len(problems) == 0 {
		if rules := schemacel.NewValidator(structural, true, 1000000); rules != nil {
			broken, _ := rules.Validate(context.Background(), nil, structural, object, nil, 10000000)
			problems = append(problems, broken...)
		}
	}
	return Answer{Result: Judged{Object: object, Errors: texts(problems)}}
}

func texts(problems field.ErrorList) []string {
	found := make([]string, len(problems))
	for i, problem := range problems {
		found[i] = problem.Error()
	}
	sort.Strings(found)
	return found
}

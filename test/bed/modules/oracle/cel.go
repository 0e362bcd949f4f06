package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/version"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
)

// Outcome is what became of one expression.
type Outcome struct {
	// Issues are those of compiling; Problem is one of planning.
	Issues  string `json:"issues,omitempty"`
	Problem string `json:"problem,omitempty"`
	Type    string `json:"type,omitempty"`
	// Estimate is the most it may cost, as text: it may be larger than JSON's numbers.
	Estimate string `json:"estimate,omitempty"`
	Value    string `json:"value,omitempty"`
	Error    string `json:"error,omitempty"`
	Cost     uint64 `json:"cost"`
}

var baseEnv = environment.MustBaseEnvSet(version.MajorMinor(1, 35))

// expressions compiles and runs expressions on one object, in the environment of a CRD's rules.
func expressions(c Case) Answer {
	structural, err := structuralOf(c.Schema)
	if err != nil {
		return Answer{Error: err.Error()}
	}
	declared := model.SchemaDeclType(structural, true)
	scoped := declared.MaybeAssignTypeName("selfType")
	extended, err := baseEnv.Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions:        []cel.EnvOption{cel.Variable("self", scoped.CelType())},
		DeclTypes:         []*apiservercel.DeclType{scoped},
	})
	if err != nil {
		return Answer{Error: err.Error()}
	}
	env, err := extended.Env(environment.StoredExpressions)
	if err != nil {
		return Answer{Error: err.Error()}
	}
	var object map[string]interface{}
	if err := json.Unmarshal(c.Object, &object); err != nil {
		return Answer{Error: err.Error()}
	}
	self := schemacel.UnstructuredToVal(object, model.WithTypeAndObjectMeta(structural))
	outcomes := make([]Outcome, len(c.Expressions))
	for i, source := range c.Expressions {
		outcomes[i] = expression(env, source, self, &library.CostEstimator{SizeEstimator: &sizes{root: declared}})
	}
	return Answer{Result: outcomes}
}

func expression(env *cel.Env, source string, self ref.Val, estimator *library.CostEstimator) (o Outcome) {
	defer func() {
		if r := recover(); r != nil {
			o = Outcome{Problem: fmt.Sprintf("panic: %v", r)}
		}
	}()
	ast, issues := env.Compile(source)
	if issues != nil && issues.Err() != nil {
		return Outcome{Issues: issues.String()}
	}
	o.Type = ast.OutputType().String()
	program, err := env.Program(ast, cel.CostLimit(1000000), cel.CostTracking(estimator), cel.InterruptCheckFrequency(100))
	if err != nil {
		o.Problem = err.Error()
		return o
	}
	estimate, err := env.EstimateCost(ast, estimator)
	if err != nil {
		o.Problem = err.Error()
		return o
	}
	o.Estimate = strconv.FormatUint(estimate.Max, 10)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	value, details, err := program.ContextEval(ctx, map[string]interface{}{"self": self})
	if details != nil && details.ActualCost() != nil {
		o.Cost = *details.ActualCost()
	}
	if err != nil {
		o.Error = err.Error()
		return o
	}
	o.Value = render(value)
	return o
}

// sizes says how large what is at a path can be.
type sizes struct {
	root *apiservercel.DeclType
}

func (s *sizes) EstimateSize(element checker.AstNode) *checker.SizeEstimate {
	if len(element.Path()) == 0 {
		return nil
	}
	current := s.root
	for _, name := range element.Path()[1:] {
		var next *apiservercel.DeclType
		switch name {
		case "@items", "@values":
			next = current.ElemType
		case "@keys":
			next = current.KeyType
		default:
			if field, ok := current.Fields[name]; ok {
				next = field.Type
			}
		}
		if next == nil {
			return nil
		}
		current = next
	}
	return &checker.SizeEstimate{Min: 0, Max: uint64(current.MaxElements)}
}

func (s *sizes) EstimateCallCost(string, string, *checker.AstNode, []checker.AstNode) *checker.CallEstimate {
	return nil
}

// render writes a value so that equal values have equal texts.
func render(value ref.Val) string {
	switch v := value.(type) {
	case types.Bool:
		return strconv.FormatBool(bool(v))
	case types.Int:
		return strconv.FormatInt(int64(v), 10)
	case types.Uint:
		return strconv.FormatUint(uint64(v), 10) + "u"
	case types.Double:
		if math.IsNaN(float64(v)) {
			return "NaN"
		}
		return strconv.FormatFloat(float64(v), 'e', 12, 64)
	case types.String:
		return strconv.QuoteToASCII(string(v))
	case types.Bytes:
		return "b" + hex.EncodeToString(v)
	case types.Null:
		return "null"
	case types.Timestamp:
		return "timestamp " + v.Time.UTC().Format(time.RFC3339Nano)
	case types.Duration:
		return "duration " + strconv.FormatInt(int64(v.Duration), 10)
	case *types.Optional:
		if !v.HasValue() {
			return "none"
		}
		return "optional " + render(v.GetValue())
	case *types.Type:
		return "type " + v.TypeName()
	case *types.Err:
		return "error " + v.Error()
	case traits.Lister:
		var parts []string
		for it := v.Iterator(); it.HasNext() == types.True; {
			parts = append(parts, render(it.Next()))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case traits.Mapper:
		var parts []string
		for it := v.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			if key == nil {
				continue
			}
			parts = append(parts, render(key)+": "+render(v.Get(key)))
		}
		sort.Strings(parts)
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return value.Type().TypeName()
}

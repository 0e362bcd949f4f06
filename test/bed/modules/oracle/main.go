// The oracle answers "what would upstream do": it reads one JSON case per line, runs it through the published
// Kubernetes libraries and prints one JSON answer per line. the property tests in test/oracle ask it.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

// Case is one question; which fields matter depends on Op.
type Case struct {
	Op          string          `json:"op"`
	Schema      json.RawMessage `json:"schema"`
	Kind        string          `json:"kind"`
	Live        json.RawMessage `json:"live"`
	Object      json.RawMessage `json:"object"`
	Patch       json.RawMessage `json:"patch"`
	Manager     string          `json:"manager"`
	Subresource string          `json:"subresource"`
	Force       bool            `json:"force"`
	Reset       [][]string      `json:"reset"`
	Expressions []string        `json:"expressions"`
}

// Answer is a result or an error.
type Answer struct {
	Result interface{} `json:"result,omitempty"`
	// Fields are the fieldsV1 of the result's managedFields, byte for byte.
	Fields []string    `json:"fields,omitempty"`
	Error  string      `json:"error,omitempty"`
	Causes interface{} `json:"causes,omitempty"`
}

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	decoder := json.NewDecoder(in)
	encoder := json.NewEncoder(out)
	for {
		var c Case
		if err := decoder.Decode(&c); err != nil {
			return
		}
		if err := encoder.Encode(answer(c)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		out.Flush()
	}
}

func answer(c Case) (a Answer) {
	defer func() {
		if r := recover(); r != nil {
			a = Answer{Error: fmt.Sprintf("panic: %v", r)}
		}
	}()
	switch c.Op {
	case "json":
		return jsonPatch(c)
	case "merge":
		return mergePatch(c)
	case "strategic":
		return strategicPatch(c)
	case "update", "apply":
		return managedFields(c)
	case "cel":
		return expressions(c)
	case "structural":
		return judge(c)
	}
	return Answer{Error: "unknown op " + c.Op}
}

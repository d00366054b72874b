package clitest

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

func checkJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args)%2 != 1 {
		ts.Fatalf("usage: json FILE [PATH VALUE]...")
	}
	document := parse(ts, args[0])
	for pair := range slices.Chunk(args[1:], 2) {
		if got := lookUp(ts, document, pair[0]); got != pair[1] {
			ts.Fatalf("%s is %q, want %q", pair[0], got, pair[1])
		}
	}
}

func setFromJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: jsonenv NAME FILE PATH")
	}
	ts.Setenv(args[0], lookUp(ts, parse(ts, args[1]), args[2]))
}

// parse reads a file that has to hold one JSON document and nothing else; on
// stderr there may be lines for people before it.
func parse(ts *testscript.TestScript, file string) any {
	text := ts.ReadFile(file)
	if i := strings.Index("\n"+text, "\n{"); file == "stderr" && i > 0 {
		text = text[i:]
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var document any
	if err := dec.Decode(&document); err != nil {
		ts.Fatalf("%s is not JSON: %v", file, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		ts.Fatalf("%s holds more than one JSON document", file)
	}
	return document
}

// lookUp gives the value at a path as text; what is not there is "absent".
func lookUp(ts *testscript.TestScript, value any, path string) string {
	for key := range strings.SplitSeq(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			member, ok := v[key]
			if !ok {
				return "absent"
			}
			value = member
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(v) {
				return "absent"
			}
			value = v[i]
		default:
			ts.Fatalf("%s: there is nothing below %v", path, value)
		}
	}
	switch v := value.(type) {
	case map[string]any:
		return fmt.Sprintf("%d members", len(v))
	case []any:
		return fmt.Sprintf("%d items", len(v))
	}
	return fmt.Sprint(value)
}

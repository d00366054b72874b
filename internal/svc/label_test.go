package svc_test

import (
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/svc"
)

func TestLabels(t *testing.T) {
	t.Parallel()
	many := map[string]string{}
	for i := range 17 {
		many["k"+strings.Repeat("x", i)] = ""
	}
	for name, tc := range map[string]struct {
		labels  map[string]string
		pointer string
	}{
		"good":          {map[string]string{"pr": "7", "ci.example/run": "https://ci/1,2", "A": ""}, ""},
		"too many":      {many, "/labels"},
		"empty key":     {map[string]string{"": "x"}, "/labels/"},
		"bad key":       {map[string]string{"a/b=c": "x"}, "/labels/a~1b=c"},
		"long value":    {map[string]string{"a": strings.Repeat("x", 256)}, "/labels/a"},
		"control value": {map[string]string{"a": "x\ny"}, "/labels/a"},
	} {
		err := svc.NewVersion{Labels: tc.labels}.Validate()
		if tc.pointer == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if e := svc.AsError(err); svc.CodeOf(err) != svc.CodeInvalidLabel || len(e.Fields) != 1 || e.Fields[0].Pointer != tc.pointer {
			t.Errorf("%s: %+v", name, err)
		}
	}
	list, err := svc.ParseLabels("pr=7,team,x=")
	if err != nil || len(list) != 3 || *list[0].Value != "7" || list[1].Value != nil || *list[2].Value != "" {
		t.Errorf("got %+v, %v", list, err)
	}
	if _, err := svc.ParseLabels("=7"); svc.CodeOf(err) != svc.CodeInvalidParameter {
		t.Errorf("got %v", err)
	}
}

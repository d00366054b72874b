package svc_test

import (
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/svc"
)

const (
	pemKey  = "-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nab+/cd==\n-----END KEY-----\n"
	account = `{"type":"service","private_key":"-----BEGIN KEY-----\nMIIE\n"}`
)

// TestRedact covers the forms in which a worker's output holds its variables.
func TestRedact(t *testing.T) {
	t.Parallel()
	env := map[string]string{
		"TOKEN": "hunter2-token", "LONGER": "hunter2-token-of-production", "TAIL": "production-eu-west",
		"KEY": pemKey, "ACCOUNT": account, "DEBUG": "true", "PORT": "8080", "NONE": "", "BREAKS": "\n\n\n\n\n\n\n\n",
		"LIST": "one\ntwo\nthe third line\r\nfour",
	}
	for name, tc := range map[string]struct{ text, want string }{
		"nothing":              {"", ""},
		"no value":             {"cannot bind", "cannot bind"},
		"twice":                {"hunter2-token, hunter2-token!", "[redacted], [redacted]!"},
		"within another value": {"no hunter2-token-of-production", "no [redacted]"},
		"overlapping":          {"no hunter2-token-of-production-eu-west.", "no [redacted]."},
		"short values":         {"true is not 8080", "true is not 8080"},
		"short lines":          {"one or two or four\n", "one or two or four\n"},
		"whole":                {"bad key " + pemKey + ".", "bad key [redacted]\n."},
		"folded":               {"bad key " + strings.ReplaceAll(pemKey, "\n", " "), "bad key [redacted] [redacted] [redacted] [redacted] "},
		"line by line":         {"0: -----BEGIN KEY-----\n1: MIIEvQIBADANBgkq\n2: the third line", "0: [redacted]\n1: [redacted]\n2: [redacted]"},
		"JSON":                 {`{"KEY":"` + strings.ReplaceAll(pemKey, "\n", `\n`) + `"}`, `{"KEY":"[redacted]\n"}`},
		"JSON value in JSON":   {`{"a":"{\"type\":\"service\",\"private_key\":\"-----BEGIN KEY-----\\nMIIE\\n\"}"}`, `{"a":"[redacted]"}`},
		"JSON in JSON":         {`"{\"list\":\"one\\ntwo\\nthe third line\\r\\nfour\"}"`, `"{\"list\":\"[redacted]\"}"`},
		"inspected":            {`{ a: '{"type":"service","private_key":"-----BEGIN KEY-----\\nMIIE\\n"}' }`, `{ a: '[redacted]' }`},
		"inspected by line":    {"'-----BEGIN KEY-----\\n' +\n  'MIIEvQIBADANBgkq\\n' +\n  'ab+/cd==\\n'", "'[redacted]\\n' +\n  '[redacted]\\n' +\n  '[redacted]\\n'"},
	} {
		if got := svc.Redact(tc.text, env); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

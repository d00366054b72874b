package svc_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/svc"
)

// TestLogRecord: what AppendLog writes is one line of JSON, and ParseLog reads it.
func TestLogRecord(t *testing.T) {
	t.Parallel()
	at := time.UnixMicro(1795336722789123).UTC()
	for _, want := range []svc.LogLine{
		{Time: at, Level: "log", Source: svc.LogConsole, Message: "a \"b\" \\ \n\t\x00\x1f\x7f é 😀 \u2028", RequestID: "0af7651916cd43dd"},
		{Time: at, Level: "error", Source: svc.LogException},
		{Time: at, Level: "info", Source: svc.LogRequest, RequestID: "x", Message: "GET /a?b=*** 200 after 3ms", Invocation: &svc.Invocation{
			Kind: svc.LogRequest, Method: "GET", Path: "/a?b=***", Status: 200, Outcome: "ok", Role: svc.RolePreview, ClientID: "ci/1", Duration: 3 * time.Millisecond,
		}},
		{Time: at, Level: "error", Source: svc.LogEvent, Message: `scheduled "* * * * *": timeout after 15m0s`, Invocation: &svc.Invocation{
			Kind: "scheduled", Outcome: "timeout", Detail: `"* * * * *"`, Duration: 15 * time.Minute,
		}},
	} {
		data := svc.AppendLog(nil, &want)
		if !json.Valid(data) || strings.ContainsAny(string(data), "\r\n") {
			t.Errorf("%q is not one line of JSON", data)
		}
		got, ok := svc.ParseLog(data)
		if diff := cmp.Diff(want, got); diff != "" || !ok {
			t.Errorf("%s: %s", data, diff)
		}
	}
	broken := svc.AppendLog(nil, &svc.LogLine{Time: at, Source: "console", Message: "a\xffb"})
	if l, ok := svc.ParseLog(broken); !ok || l.Message != "a\ufffdb" {
		t.Errorf("%q of %q", l.Message, broken)
	}
	for _, bad := range []string{"", "{}", `{"n":1,"t":`, "null"} {
		if _, ok := svc.ParseLog([]byte(bad)); ok {
			t.Errorf("%q is an entry", bad)
		}
	}
}

func TestHideQuery(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"/": "/", "/a?": "/a?", "/a?token=x&b&c=": "/a?token=***&b&c", "/a?x=1=2?3": "/a?x=***", "*": "*", "/?&&": "/?&&",
	} {
		if got := svc.HideQuery(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestHideCredentials(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"authorization: Bearer abc.DEF-123_~+/=":  "authorization: Bearer ***",
		"basic dXNlcjpwYXNz, BEARER short":        "basic ***, BEARER short",
		"a basic question of bearer shares":       "a basic question of bearer shares",
		"postgres://me:s3cret@db:5432/x":          "postgres://***@db:5432/x",
		"https://a.example/@b:c@d http://u@host/": "https://a.example/@b:c@d http://u@host/",
	} {
		if got := svc.HideCredentials(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestRedactorNames(t *testing.T) {
	t.Parallel()
	r := svc.NewRedactor(map[string]string{"KEY": "hunter2-token", "LONG": "hunter2-token-2", "N": "12"})
	if got := r.Redact("a hunter2-token, 12, hunter2-token-2 and é"); got != "a ***KEY***, 12, ***KEY*** and é" {
		t.Errorf("%q", got)
	}
	if text := "nothing"; r.Redact(text) != text {
		t.Error("a text without values changed")
	}
}

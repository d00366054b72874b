package database

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// split cuts text, read a byte at a time, and gives the pieces with their lines.
func split(t *testing.T, text string) (pieces []string, lines []int) {
	t.Helper()
	s, err := newSplitter(iotest.OneByteReader(strings.NewReader(text)))
	for err == nil {
		var p piece
		if p, err = s.next(); err == nil {
			pieces, lines = append(pieces, p.text), append(lines, p.line)
		}
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	return pieces, lines
}

func TestSplit(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                                     nil,
		" \n":                                  {" \n"},
		"a;b":                                  {"a;", "b"},
		"a;\n b;\n":                            {"a;", "\n b;", "\n"},
		";;":                                   {";", ";"},
		"'a;''b;'; \"c;\"\";\";":               {"'a;''b;';", " \"c;\"\";\";"},
		"`a;`;[b;];":                           {"`a;`;", "[b;];"},
		"-- a;\nb; /* c; */ d;":                {"-- a;\nb;", " /* c; */ d;"},
		"/*/ a; */ b;":                         {"/*/ a; */ b;"},
		"/* a; **/ b; c":                       {"/* a; **/ b;", " c"},
		"a - b / c; d":                         {"a - b / c;", " d"},
		"'a;":                                  {"'a;"},
		"/* a;":                                {"/* a;"},
		"-- a;":                                {"-- a;"},
		"create trigger t begin a; b; end; c;": {"create trigger t begin a; b; end;", " c;"},
		"Create /* x */ Temporary Trigger t begin a; case 1 end; end ;": {"Create /* x */ Temporary Trigger t begin a; case 1 end; end ;"},
		"create temp table t(a); b;":                                    {"create temp table t(a);", " b;"},
		"explain create trigger t begin a; end; b;":                     {"explain create trigger t begin a; end;", " b;"},
		"create trigger t begin a;; end--\n; b;":                        {"create trigger t begin a;; end--\n;", " b;"},
		"create trigger t begin a; ending; end;":                        {"create trigger t begin a; ending; end;"},
		"create table trigger(a); b":                                    {"create table trigger(a);", " b"},
		"insert into t values('create trigger'); b":                     {"insert into t values('create trigger');", " b"},
	} {
		got, _ := split(t, text)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	comments := strings.Repeat("-- x\n", 50_000)
	if got, lines := split(t, comments+"a;"); strings.Join(got, "") != comments+"a;" || len(got) != 4 || lines[3] != 3*(64<<10/5+1)+1 {
		t.Errorf("comments: %d pieces at %v", len(got), lines)
	}
	_, lines := split(t, "a;\n\nb\n;c;\n--\n\nd;\n")
	if diff := cmp.Diff([]int{1, 1, 4, 4, 7}, lines); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

// Nothing is lost, and the engine sees the same statements one by one.
func FuzzSplit(f *testing.F) {
	for _, text := range []string{"a;b", "create trigger t begin a; end; b", "'", "--\n;", "/*;*/;", "\x00;", "é;", "explain create temp trigger"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.HasPrefix(text, "\ufeff") || strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
			return
		}
		pieces, lines := split(t, text)
		if joined := strings.Join(pieces, ""); joined != text {
			t.Errorf("%q became %q", text, joined)
		}
		line := 1
		for i, p := range pieces {
			if lines[i] != line {
				t.Errorf("%q: piece %d is on line %d, not %d", text, i, lines[i], line)
			}
			line += strings.Count(p, "\n")
			if i < len(pieces)-1 && !strings.HasSuffix(p, ";") {
				t.Errorf("%q: piece %d ends early: %q", text, i, p)
			}
		}
	})
}

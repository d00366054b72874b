package dotenv_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/client/dotenv"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		want map[string]string
	}{
		"empty":          {"", map[string]string{}},
		"comments":       {"# a\n\n   # b\nA=1\n", map[string]string{"A": "1"}},
		"spaces":         {"  A = 1 \t\nB=\n", map[string]string{"A": "1", "B": ""}},
		"export":         {"export A=1\nexport  B=2", map[string]string{"A": "1", "B": "2"}},
		"comment after":  {"A=1 # one\nB=x#y\nC=#z", map[string]string{"A": "1", "B": "x#y", "C": ""}},
		"equals":         {"A=b=c==", map[string]string{"A": "b=c=="}},
		"quotes":         {`A="a # b" # c` + "\n" + `B='x "y"'` + "\nC=`it's`", map[string]string{"A": "a # b", "B": `x "y"`, "C": "it's"}},
		"escapes":        {`A="a\nb\"c"` + "\n" + `B='a\nb'`, map[string]string{"A": "a\nb\"c", "B": `a\nb`}},
		"several lines":  {"A=\"-----BEGIN\nxyz\n-----END\"\nB=2", map[string]string{"A": "-----BEGIN\nxyz\n-----END", "B": "2"}},
		"last wins":      {"A=1\nA=2", map[string]string{"A": "2"}},
		"dollar":         {"A=$B ${C}\nB=\"$D\"", map[string]string{"A": "$B ${C}", "B": "$D"}},
		"line ends":      {"A=1\r\nB='2'\r\n", map[string]string{"A": "1", "B": "2"}},
		"byte order":     {"\ufeffA=1", map[string]string{"A": "1"}},
		"quote inside":   {"A=it's", map[string]string{"A": "it's"}},
		"names with dot": {"a.b-c=1", map[string]string{"a.b-c": "1"}},
	} {
		got, err := dotenv.Parse([]byte(tc.text))
		if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
}

// TestParseErrors: an error names the line, and repeats nothing of it.
func TestParseErrors(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ text, want string }{
		"no equals":   {"A=1\nhunter2\n", "line 2: want NAME=value"},
		"no name":     {"=hunter2", "line 1: want NAME=value"},
		"odd name":    {"A=\"x\ny\"\n\nhunter2 x=1", "line 4: want NAME=value"},
		"no end":      {"A=1\nB=\"hunter2\nC=3", "line 2: the closing quote is missing"},
		"after quote": {"A='x' hunter2", "line 1: text follows the closing quote"},
	} {
		_, err := dotenv.Parse([]byte(tc.text))
		if err == nil || err.Error() != tc.want || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %v, want %s", name, err, tc.want)
		}
	}
}

func TestParseAny(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text, wrong string
		want        map[string]string
	}{
		"dotenv":       {text: "A=1", want: map[string]string{"A": "1"}},
		"json":         {text: ` {"A": "1", "B": "x\ny"}`, want: map[string]string{"A": "1", "B": "x\ny"}},
		"broken json":  {text: `{"A": hunter2}`, wrong: "the JSON is malformed"},
		"json, number": {text: `{"A": 42}`, wrong: `the value of "A" is not a string`},
	} {
		got, err := dotenv.ParseAny([]byte(tc.text))
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if (err == nil) != (tc.wrong == "") || err != nil && err.Error() != tc.wrong {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

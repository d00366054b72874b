package dotenv_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/client/dotenv"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestRead: what npm's dotenv 16.3.1, which wrangler has, returns for the same text.
func TestRead(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text string
		want map[string]string
	}{
		{"", map[string]string{}},
		{"# a\n\n   # b\nA=1\n", map[string]string{"A": "1"}},
		{"  A = 1 \t\nB=\n", map[string]string{"A": "1", "B": ""}},
		{"export A=1\nexport  B=2", map[string]string{"A": "1", "B": "2"}},
		{"A=1 # one\nB=x#y\nC=#z", map[string]string{"A": "1", "B": "x", "C": ""}},
		{"A=b=c==", map[string]string{"A": "b=c=="}},
		{"A=\"a # b\" # c\nB='x \"y\"'\nC=`it's`", map[string]string{"A": "a # b", "B": "x \"y\"", "C": "it's"}},
		{"A=\"a\\nb\\\"c\"\nB='a\\nb'", map[string]string{"A": "a\nb\\\"c", "B": "a\\nb"}},
		{"A=\"-----BEGIN\nxyz\n-----END\"\nB=2", map[string]string{"A": "-----BEGIN\nxyz\n-----END", "B": "2"}},
		{"A=1\nB=0\nA=2", map[string]string{"A": "2", "B": "0"}},
		{"A=$B ${C}\nB=\"$D\"", map[string]string{"A": "$B ${C}", "B": "$D"}},
		{"A=1\r\nB='2'\r\n", map[string]string{"A": "1", "B": "2"}},
		{"\ufeffA=1", map[string]string{"A": "1"}},
		{"A=it's", map[string]string{"A": "it's"}},
		{"a.b-c=1", map[string]string{"a.b-c": "1"}},
		{"A=123#45", map[string]string{"A": "123"}},
		{"B=https://h/p?a=b#frag", map[string]string{"B": "https://h/p?a=b"}},
		{"C=\"say \\\"hi\\\"\"", map[string]string{"C": "say \\\"hi\\\""}},
		{"COLON: yaml", map[string]string{"COLON": "yaml"}},
		{"A:x", map[string]string{}},
		{"B=\"open", map[string]string{"B": "\"open"}},
		{"A=1\nhunter2\nB=2", map[string]string{"A": "1", "B": "2"}},
		{"=hunter2", map[string]string{}},
		{"A=\"x\ny\"\n\nhunter2 x=1", map[string]string{"A": "x\ny"}},
		{"A=1\nB=\"hunter2\nC=3", map[string]string{"A": "1", "B": "\"hunter2", "C": "3"}},
		{"A='x' hunter2", map[string]string{"A": "'x' hunter2"}},
		{"A=\n\"x\"\nB=1", map[string]string{"A": "x", "B": "1"}},
		{"A=\nB=2", map[string]string{"A": "", "B": "2"}},
		{"  export   A  =  ' x '  # c", map[string]string{"A": " x "}},
		{"A='a\\'b'", map[string]string{"A": "a\\'b"}},
		{"A='a\nb' \nC=d", map[string]string{"A": "a\nb", "C": "d"}},
		{"A=`x\ny`", map[string]string{"A": "x\ny"}},
		{"1A=2", map[string]string{"1A": "2"}},
		{"A B=1", map[string]string{}},
		{"A=\"a\\rb\\tc\"", map[string]string{"A": "a\rb\\tc"}},
		{"A=''\nB=\"\"\nC=``", map[string]string{"A": "", "B": "", "C": ""}},
		{"A='\nB=1", map[string]string{"A": "'", "B": "1"}},
		{"A=\u00a0x\u00a0", map[string]string{"A": "x"}},
		{"A=x\rB=y", map[string]string{"A": "x", "B": "y"}},
		{"A=\"1\" \"2\"", map[string]string{"A": "1\" \"2"}},
		{"A='x'#c", map[string]string{"A": "x"}},
		{"A=`a`b`", map[string]string{"A": "a`b"}},
		{"SINGLE_QUOTES='single_quotes'\nDOUBLE_QUOTES_INSIDE_SINGLE='double \"quotes\" work inside single quotes'\nDOUBLE_QUOTES_WITH_NO_SPACE_BRACKET=\"{ port: $MONGOLAB_PORT}\"\nEXPAND_NEWLINES=\"expand\\nnew\\nlines\"\nDONT_EXPAND_UNQUOTED=dontexpand\\nnewlines\nINLINE_COMMENTS=inline comments # work #very #well\nINLINE_COMMENTS_SINGLE_QUOTES='inline comments outside of #singlequotes' # work\nINLINE_COMMENTS_SPACE=inline comments start with a#number sign. no space required.\nEQUAL_SIGNS=equals==\nRETAIN_INNER_QUOTES={\"foo\": \"bar\"}\nRETAIN_INNER_QUOTES_AS_STRING='{\"foo\": \"bar\"}'\nTRIM_SPACE_FROM_UNQUOTED=    some spaced out string\nUSERNAME=therealnerdybeast@example.tld\n    SPACED_KEY = parsed", map[string]string{"SINGLE_QUOTES": "single_quotes", "DOUBLE_QUOTES_INSIDE_SINGLE": "double \"quotes\" work inside single quotes", "DOUBLE_QUOTES_WITH_NO_SPACE_BRACKET": "{ port: $MONGOLAB_PORT}", "EXPAND_NEWLINES": "expand\nnew\nlines", "DONT_EXPAND_UNQUOTED": "dontexpand\\nnewlines", "INLINE_COMMENTS": "inline comments", "INLINE_COMMENTS_SINGLE_QUOTES": "inline comments outside of #singlequotes", "INLINE_COMMENTS_SPACE": "inline comments start with a", "EQUAL_SIGNS": "equals==", "RETAIN_INNER_QUOTES": "{\"foo\": \"bar\"}", "RETAIN_INNER_QUOTES_AS_STRING": "{\"foo\": \"bar\"}", "TRIM_SPACE_FROM_UNQUOTED": "some spaced out string", "USERNAME": "therealnerdybeast@example.tld", "SPACED_KEY": "parsed"}},
		{"USERNAME: therealnerdybeast\nURL: http://x:1/a#b", map[string]string{"USERNAME": "therealnerdybeast", "URL": "http://x:1/a"}},
		{"A=\\$x", map[string]string{"A": "\\$x"}},
		{"A=1;B=2", map[string]string{"A": "1;B=2"}},
		{"\u00e9=1\nB=2", map[string]string{"B": "2"}},
		{"A=\u65e5\u672c", map[string]string{"A": "\u65e5\u672c"}},
		{"A=\"#\"", map[string]string{"A": "#"}},
		{"A = \nB", map[string]string{"A": ""}},
	} {
		list, _ := dotenv.Read([]byte(tc.text))
		got := map[string]string{}
		for _, v := range list {
			got[v.Name] = v.Value
		}
		if diff := cmp.Diff(tc.want, got); diff != "" || len(list) != len(got) {
			t.Errorf("%q: %s", tc.text, diff)
		}
	}
}

// TestExpand: what dotenv-expand 12.0.2 makes of the files of one group.
func TestExpand(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		files []string
		want  map[string]string
	}{
		{[]string{"D=one\nE=$D-two\nF=${D}\nG=pa$$word"}, map[string]string{"D": "one", "E": "one-two", "F": "one", "G": "pa$"}},
		{[]string{"A=$B\nB=1"}, map[string]string{"A": "", "B": "1"}},
		{[]string{"B=1\nA=${B:-x}\nC=${N:-x}\nD=${N-y}\nE=${B:+z}\nF=${N:+z}\nG=${B+z}"}, map[string]string{"B": "1", "A": "1", "C": "x", "D": "y", "E": "z", "F": "", "G": "z"}},
		{[]string{"A=\\$B\nB=1\nC=\\${A}"}, map[string]string{"A": "$B", "B": "1", "C": "${A}"}},
		{[]string{"A=1", "A=2\nB=$A"}, map[string]string{"A": "2", "B": "2"}},
		{[]string{"A=$A"}, map[string]string{"A": ""}},
		{[]string{"A=1\nA=$A"}, map[string]string{"A": ""}},
		{[]string{"A=x\nB='$A'\nC=\"$A\"\nD=`$A`"}, map[string]string{"A": "x", "B": "x", "C": "x", "D": "x"}},
		{[]string{"P='$$'\nQ=<$P>"}, map[string]string{"P": "$$", "Q": "<$>"}},
		{[]string{"A=${}"}, map[string]string{"A": "${}"}},
		{[]string{"A=${N:-${M:-deep}}"}, map[string]string{"A": "deep"}},
		{[]string{"N=1\nA=${N:-${M:-deep}}"}, map[string]string{"N": "1", "A": "1"}},
		{[]string{"A=5$"}, map[string]string{"A": "5$"}},
		{[]string{"A=$1"}, map[string]string{"A": "$1"}},
		{[]string{"A=a\\$b$c"}, map[string]string{"A": "a$b"}},
		{[]string{"B=v\nA=\\$B $B"}, map[string]string{"B": "v", "A": "\\v v"}},
		{[]string{"A=${nullable}"}, map[string]string{"A": "able"}},
		{[]string{"U=user\nURL=postgres://$U:${PASS}@h/$DB"}, map[string]string{"U": "user", "URL": "postgres://user:@h/"}},
		{[]string{"X=1\nY=$X$X\nZ=$Y$Y"}, map[string]string{"X": "1", "Y": "11", "Z": "1111"}},
		{[]string{"A=b\nB=${A:-c-d}-e"}, map[string]string{"A": "b", "B": "b-e"}},
		{[]string{"MONGO=mongodb://${USER}:${PW}@h\nUSER=u\nPW=p"}, map[string]string{"MONGO": "mongodb://:@h", "USER": "u", "PW": "p"}},
		{[]string{"A=${B-}\nC=${B:-}"}, map[string]string{"A": "", "C": ""}},
		{[]string{"A=$a.b\na=1"}, map[string]string{"A": ".b", "a": "1"}},
		{[]string{"PW=pa$s\\$t"}, map[string]string{"PW": "pa$t"}},
		{[]string{"A=$B", "B=1", "C=$B$A"}, map[string]string{"A": "", "B": "1", "C": "1"}},
		{[]string{"P=a$&b\nQ=${P}"}, map[string]string{"P": "a$&b", "Q": ""}}, // the original does not end
	} {
		var files [][]dotenv.Var
		for _, text := range tc.files {
			vars, _ := dotenv.Read([]byte(text))
			files = append(files, vars)
		}
		got := dotenv.Expand(files...)
		if tc.want["P"] == "a$&b" {
			got["Q"] = ""
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%q: %s", tc.files, diff)
		}
	}
}

// TestLoad: the first group that exists is read; only .env files are joined and expanded.
func TestLoad(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		files map[string]string
		env   string
		want  map[string]string
		notes []string
	}{
		"none":         {nil, "", map[string]string{}, nil},
		"dev vars":     {map[string]string{".dev.vars": "A=1\nB=$A", ".env": "C=1"}, "", map[string]string{"A": "1", "B": "$A"}, nil},
		"env":          {map[string]string{".env": "A=1\nB=$A", ".env.local": "A=2"}, "", map[string]string{"A": "2", "B": "2"}, nil},
		"environment":  {map[string]string{".dev.vars": "A=1", ".dev.vars.e": "A=2"}, "e", map[string]string{"A": "2"}, nil},
		"its fallback": {map[string]string{".dev.vars": "A=1", ".env.e": "A=2"}, "e", map[string]string{"A": "1"}, nil},
		"env of it":    {map[string]string{".env": "A=1", ".env.local": "A=2", ".env.e": "A=3\nB=4", ".env.e.local": "B=5"}, "e", map[string]string{"A": "3", "B": "5"}, nil},
		"suspect lines": {
			map[string]string{".env": "A=1#hunter2\nhunter2\n", ".env.local": "B=\"hunter2"},
			"",
			map[string]string{"A": "1", "B": "\"hunter2"},
			[]string{".env: line 1: a # begins a comment: put a value that has one in quotes", ".env: line 2: want NAME=value", ".env.local: line 1: the closing quote is missing"},
		},
	} {
		dir := svctest.Files(t, tc.files)
		vars, notes, err := dotenv.Load(dir, tc.env)
		if diff := cmp.Diff(tc.want, vars) + cmp.Diff(tc.notes, notes); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
}

// TestParseErrors: a file with suspect lines is refused where a person names it. An error names the line, and repeats nothing of it.
func TestParseErrors(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ text, want string }{
		"no equals":   {"A=1\nhunter2\n", "line 2: want NAME=value"},
		"no name":     {"=hunter2", "line 1: want NAME=value"},
		"odd name":    {"A=\"x\ny\"\n\nhunter2 x=1", "line 4: want NAME=value"},
		"no end":      {"A=1\nB=\"hunter2\nC=3", "line 2: the closing quote is missing"},
		"after quote": {"A='x' hunter2", "line 1: text follows the closing quote"},
		"hash inside": {"A=1\nB=hunter2#x", "line 2: a # begins a comment: put a value that has one in quotes"},
		"hash":        {"B=#hunter2", "line 1: a # begins a comment: put a value that has one in quotes"},
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

package tokens

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/svcctl/svcctl/internal/svc"
)

// lookEvery is the time between two looks at the file.
const lookEvery = time.Second

// maxFile is the maximum size of the file in bytes.
const maxFile = 1 << 20

const (
	// keepTime is for how long the tokens before a broken change stay valid.
	keepTime = 10 * time.Minute
	// remindEvery is the time between two log lines about a file that cannot be read.
	remindEvery = time.Minute
)

// File is a file of tokens. It is safe for concurrent use.
type File struct {
	path string
	log  *slog.Logger

	mu     sync.Mutex
	looked time.Time
	state  fs.FileInfo
	tokens []svc.Token
	why    error     // why the file cannot be read; nil if it can
	since  time.Time // when that began
	noted  time.Time // when that was last logged
}

// Open reads the file at path. The error names what is wrong, without tokens.
func Open(path string, log *slog.Logger) (*File, error) {
	f := &File{path: path, log: log}
	if err := f.load(); err != nil {
		return nil, fmt.Errorf("SVC_TOKENS_FILE=%s: %w", path, err)
	}
	return f, nil
}

// Tokens returns the tokens, at most a second after a change of the file. A file that does not
// exist has none. While a changed file is invalid, the tokens before are valid, for keepTime.
func (f *File) Tokens() []svc.Token {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.look(time.Now())
	return f.tokens
}

// Trouble returns why the file cannot be read, nil if it can.
func (f *File) Trouble() *svc.TokensTrouble {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.look(time.Now())
	if f.why == nil {
		return nil
	}
	return &svc.TokensTrouble{File: f.path, Detail: f.why.Error(), Valid: len(f.tokens), Until: f.until()}
}

// until is when the tokens before end, of a file that cannot be read.
func (f *File) until() time.Time {
	if errors.Is(f.why, fs.ErrNotExist) {
		return f.since
	}
	return f.since.Add(keepTime)
}

// look reads the file again if it has changed.
func (f *File) look(now time.Time) {
	if now.Sub(f.looked) < lookEvery {
		return
	}
	f.looked = now
	if !f.same() {
		f.reload(now)
	}
	if f.why == nil {
		return
	}
	if !now.Before(f.until()) {
		f.tokens = nil
	}
	if now.Sub(f.noted) >= remindEvery {
		f.noted = now
		f.log.Error("the file of tokens cannot be read", "file", f.path, "error", f.why, "valid_tokens", len(f.tokens), "until", f.until())
	}
}

// same reports whether the file is as it was at the last look.
func (f *File) same() bool {
	now, err := os.Stat(f.path)
	if err != nil {
		return errors.Is(f.why, fs.ErrNotExist) && errors.Is(err, fs.ErrNotExist)
	}
	return f.state != nil && os.SameFile(now, f.state) && now.ModTime().Equal(f.state.ModTime()) && now.Size() == f.state.Size()
}

func (f *File) reload(now time.Time) {
	err := f.load()
	switch {
	case err == nil:
		f.log.Info("tokens of the API were read again", "file", f.path, "tokens", len(f.tokens))
	case f.why == nil:
		f.since, f.noted = now, time.Time{}
	}
	f.why = err
}

// load reads the file. It remembers the state also of a file that it rejects.
func (f *File) load() error {
	f.state = nil
	file, err := os.Open(f.path)
	if err != nil {
		return err
	}
	defer file.Close()
	if f.state, err = file.Stat(); err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("more than %d bytes", maxFile)
	}
	if err != nil {
		return err
	}
	tokens, err := parse(text)
	if err != nil {
		return err
	}
	f.tokens = tokens
	return nil
}

// entry is one token in the file.
type entry struct {
	Name    string    `yaml:"name"`
	Role    string    `yaml:"role"`
	Token   string    `yaml:"token"`
	SHA256  string    `yaml:"sha256"`
	Expires time.Time `yaml:"expires"`
}

var namePattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// leastToken is the minimum length of a token in bytes.
const leastToken = 16

func parse(text []byte) ([]svc.Token, error) {
	var doc struct {
		Tokens []entry `yaml:"tokens"`
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.New("want a list \"tokens\" of name, role, token or sha256, and expires") // the error of YAML may hold a token
	}
	names, hashes := map[string]bool{}, map[[sha256.Size]byte]bool{}
	tokens := make([]svc.Token, 0, len(doc.Tokens))
	for i, e := range doc.Tokens {
		t, err := e.token()
		switch {
		case err != nil:
			return nil, fmt.Errorf("token %d (%s): %w", i+1, e.Name, err)
		case names[t.Name] || hashes[t.Hash]:
			return nil, fmt.Errorf("token %d (%s): another token has its name or its value", i+1, e.Name)
		}
		names[t.Name], hashes[t.Hash] = true, true
		tokens = append(tokens, t)
	}
	return tokens, nil
}

func (e entry) token() (svc.Token, error) {
	t := svc.Token{Name: e.Name, Role: e.Role, Expires: e.Expires}
	switch {
	case !namePattern.MatchString(e.Name):
		return t, errors.New("want a name of at most 64 letters, digits, '.', '_' and '-'")
	case !slices.Contains([]string{svc.RoleDeploy, svc.RoleAdmin, svc.RoleRead, svc.RoleGateway}, e.Role):
		return t, errors.New("want the role deploy, admin, read or gateway")
	case (e.Token == "") == (e.SHA256 == ""):
		return t, errors.New("want either token or sha256")
	case e.Token != "" && len(e.Token) < leastToken:
		return t, fmt.Errorf("want a token of at least %d characters", leastToken)
	case e.Token != "":
		t.Hash = sha256.Sum256([]byte(e.Token))
		return t, nil
	}
	sum, err := hex.DecodeString(e.SHA256)
	if err != nil || len(sum) != sha256.Size {
		return t, errors.New("want sha256 as 64 hexadecimal digits")
	}
	copy(t.Hash[:], sum)
	return t, nil
}

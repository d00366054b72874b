package database_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/binding"
	"github.com/svcctl/svcctl/internal/binding/database"
	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/sqlite/raw"
)

// interrupting is files whose reader loses patience soon after it has begun.
type interrupting struct {
	fs.FS
	cancel context.CancelFunc
}

func (i *interrupting) Open(name string) (fs.File, error) {
	time.AfterFunc(5*time.Millisecond, i.cancel)
	return i.FS.Open(name)
}

// plainStore is a store that is one file and no more: what SQLite promises about
// a killed process holds of it, and of nothing else.
type plainStore struct {
	binding.Volumes // what else there may be is not used

	path  string
	c     *raw.Conn
	write func(fn func() error) error // around each write; nil for nothing
}

func openPlain(dir string) (*plainStore, error) {
	s := &plainStore{path: filepath.Join(dir, "x.sqlite")}
	c, err := raw.Open(s.path, raw.Options{})
	if err != nil {
		return nil, err
	}
	s.c = c
	return s, c.Script("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA cache_size = 20")
}

func (s *plainStore) Store(context.Context, string) (binding.Store, error) { return s, nil }

func (s *plainStore) Read(_ context.Context, fn func(*raw.Conn) error) error { return fn(s.c) }

func (s *plainStore) Write(_ context.Context, fn func(*raw.Conn) error) error {
	if s.write == nil {
		return fn(s.c)
	}
	return s.write(func() error { return fn(s.c) })
}

func (s *plainStore) History() binding.History { return binding.History{} }

// seedPlain seeds the database in dir, which around may interfere with.
func seedPlain(dir string, around func(s *plainStore)) ([]string, *plainStore, error) {
	s, err := openPlain(dir)
	if err != nil {
		return nil, nil, err
	}
	in, err := database.Kind{}.Open(context.Background(), bundle.Binding{Name: "DB", Kind: "database", Resource: "db"}, s)
	if err != nil {
		return nil, nil, err
	}
	if around != nil {
		around(s)
	}
	list := bundle.Seeds{Binding: "DB"}
	for _, name := range []string{"DB/1.sql", "DB.sqlite"} {
		list.Files = append(list.Files, bundle.File{Path: "seed/" + name})
	}
	seeder, ok := in.(binding.Seeder)
	if !ok {
		return nil, nil, errors.ErrUnsupported
	}
	got, err := seeder.Seed(context.Background(), list, os.DirFS(dir))
	return got, s, err
}

// childEnv makes the test binary a process that seeds the database in a
// directory and dies of it: "<how> <directory>".
const childEnv = "SEED_TEST_CHILD"

func TestMain(m *testing.M) {
	if how, dir, ok := strings.Cut(os.Getenv(childEnv), " "); ok {
		_, _, err := seedPlain(dir, func(s *plainStore) { dieOf(s, how) })
		fmt.Println("it lives", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// dieOf has the process killed in a write: "during-2" while the second import
// goes on, "after-2" once it is committed and nobody knows.
func dieOf(s *plainStore, how string) {
	when, number, _ := strings.Cut(how, "-")
	imports := 0
	s.write = func(fn func() error) error {
		imports++
		if fmt.Sprint(imports) != number {
			return fn()
		}
		if when == "during" {
			go killWhenGrown(s.path + "-wal")
		}
		err := fn()
		if when == "after" && err == nil {
			killSelf()
		}
		return err
	}
}

// killWhenGrown kills the process once a transaction under way has outgrown the
// memory for it.
func killWhenGrown(wal string) {
	from := int64(-1)
	for { // most of the transaction is still to come then: there is no hurry, and no time to sleep
		info, err := os.Stat(wal)
		if err == nil && from < 0 {
			from = info.Size()
		}
		if err == nil && info.Size() > from {
			killSelf()
		}
	}
}

func killSelf() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// TestSeedKilled: a process that dies while it seeds leaves each file whole or
// not at all, and the next one imports what is left, once.
func TestSeedKilled(t *testing.T) {
	t.Parallel()
	const fill = "; WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c LIMIT 20000) INSERT INTO %[1]s SELECT x, 'some text that takes room in row ' || x FROM c;"
	one := fmt.Sprintf("CREATE TABLE %[1]s(a, b)"+fill, "one")
	two := databaseFile(t, fmt.Sprintf("CREATE TABLE %[1]s(a, b)"+fill+" CREATE INDEX two_a ON two(a)", "two"))
	for how, want := range map[string][]string{
		"during-1": {"seed/DB/1.sql", "seed/DB.sqlite"}, "after-1": {"seed/DB.sqlite"},
		"during-2": {"seed/DB.sqlite"}, "after-2": nil,
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			_, dir := seeds(t, map[string]string{"DB/1.sql": one, "DB.sqlite": two}, "DB/1.sql", "DB.sqlite")
			seedAndDie(t, dir, how)
			got, s, err := seedPlain(dir, nil)
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("imported %v, %v; want %v", got, err, want)
			}
			defer s.c.Close()
			var n []int64
			for _, text := range []string{"SELECT count(*) FROM one", "SELECT count(*) FROM two", "SELECT count(*) FROM _cf_seed", "SELECT count(*) FROM sqlite_master"} {
				if err := s.c.Query(text, nil, func(s *raw.Stmt) error { n = append(n, s.Int64(0)); return nil }); err != nil {
					t.Fatal(err)
				}
			}
			if !slices.Equal(n, []int64{20_000, 20_000, 2, 4}) {
				t.Errorf("got %v", n)
			}
		})
	}
}

func seedAndDie(t *testing.T, dir, how string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), childEnv+"="+how+" "+dir)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL { //nolint:forcetypeassert // on unix
		t.Fatalf("it was not killed: %v\n%s", err, out)
	}
}

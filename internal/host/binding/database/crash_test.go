package database_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/database"
	"github.com/svcctl/svcctl/internal/test/svctest"
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

// plainDatabase is a database that is one file and no more: what SQLite promises about
// a killed process holds of it, and of nothing else.
type plainDatabase struct {
	volume.Volumes // what else there may be is not used

	path  string
	c     *raw.Conn
	write func(fn func() error) error // around each write; nil for nothing
}

func openPlain(dir string) (*plainDatabase, error) {
	s := &plainDatabase{path: filepath.Join(dir, "x.sqlite")}
	c, err := raw.Open(s.path, raw.Options{})
	if err != nil {
		return nil, err
	}
	s.c = c
	return s, c.Script("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA cache_size = 20")
}

func (s *plainDatabase) Database(context.Context, string) (volume.Database, error) { return s, nil }

func (s *plainDatabase) Read(_ context.Context, fn func(*raw.Conn) error) error { return fn(s.c) }

func (s *plainDatabase) Write(_ context.Context, fn func(*raw.Conn) error) error {
	if s.write == nil {
		return fn(s.c)
	}
	return s.write(func() error { return fn(s.c) })
}

func (s *plainDatabase) Record(ctx context.Context, fn func(*raw.Conn) error) error {
	return s.Write(ctx, fn)
}

func (s *plainDatabase) Late() bool { return false }

func (s *plainDatabase) Ship(context.Context) error { return nil }

func (s *plainDatabase) History() volume.History { return volume.History{} }

func (s *plainDatabase) Mark(context.Context) (uint64, bool) { return 0, false }

// seedPlain seeds the database in dir, which around may interfere with.
func seedPlain(dir string, around func(s *plainDatabase)) ([]string, *plainDatabase, error) {
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
	return fileTexts(got), s, err
}

func TestMain(m *testing.M) { svctest.Main(m, map[string]svctest.Role{"seed": seedAndDie}) }

// seedAndDie seeds the database in the directory args[1] and dies of it: args[0]
// says how.
func seedAndDie(_ context.Context, args []string) error {
	_, _, err := seedPlain(args[1], func(s *plainDatabase) { dieOf(s, args[0]) })
	return fmt.Errorf("it lives: %w", err)
}

// dieOf has the process killed in a write: "during-2" in the middle of the second
// import, "after-2" once it is committed and before any other code has run.
func dieOf(s *plainDatabase, how string) {
	when, number, _ := strings.Cut(how, "-")
	imports := 0
	s.write = func(fn func() error) error {
		imports++
		if fmt.Sprint(imports) != number {
			return fn()
		}
		if when == "during" {
			if err := stopGrowth(s.path + "-wal"); err != nil {
				return err
			}
		}
		if err := fn(); (err == nil) != (when == "after") {
			return fmt.Errorf("the import ended by %w", err)
		}
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

// stopGrowth has writes fail once a transaction has outgrown the memory for it and
// made the file some pages larger: it cannot be committed, and what it wrote so far
// stays in the file.
func stopGrowth(wal string) error {
	info, err := os.Stat(wal)
	if err != nil {
		return err
	}
	most := uint64(info.Size()) + 64<<10
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: most, Max: most})
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
			if p := svctest.Start(t, "seed", how, dir); !p.Killed() {
				t.Fatalf("it was not killed: %v, %s", p.State(), p.Stderr())
			}
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

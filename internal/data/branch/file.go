package branch

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// SnapshotLevel is the level of full images. The levels below hold changes: level
// 0 as they were committed, higher ones compacted.
const SnapshotLevel = 9

// File names one immutable log file: the changes of transactions Min to Max of
// one database. A file whose Min is 1 is a full image.
type File struct {
	Prefix   string    `json:"prefix"` // of the database that wrote it, see DatabasePrefix
	Level    int       `json:"level"`
	Min      uint64    `json:"min"`
	Max      uint64    `json:"max"`
	Size     int64     `json:"size"`     // bytes; an object of another size is torn
	Modified time.Time `json:"modified"` // by the object store; zero in manifests

	// Pack, if not "", is the key of the history object that has the file, at Off.
	Pack string `json:"pack,omitempty"`
	Off  int64  `json:"off,omitempty"`
}

// Object is the key of the object that has the file.
func (f File) Object() string {
	if f.Pack != "" {
		return f.Pack
	}
	return f.Key()
}

// Key is the name of the file's object; of a file in a history object a name that is as unique.
func (f File) Key() string {
	if f.Pack != "" {
		return fmt.Sprintf("%s#%d", f.Pack, f.Off)
	}
	return fmt.Sprintf("%s/ltx/%04x/%016x-%016x.ltx", f.Prefix, f.Level, f.Min, f.Max)
}

// ParseKey is the reverse of Key; ok is false for other keys.
func ParseKey(key string) (f File, ok bool) {
	dir, name := path.Split(key)
	prefix, level, found := strings.Cut(strings.TrimSuffix(dir, "/"), "/ltx/")
	lo, hi, dash := strings.Cut(strings.TrimSuffix(name, ".ltx"), "-")
	if !found || !dash {
		return File{}, false
	}
	l, err1 := strconv.ParseUint(level, 16, 8)
	a, err2 := strconv.ParseUint(lo, 16, 64)
	b, err3 := strconv.ParseUint(hi, 16, 64)
	f = File{Prefix: prefix, Level: int(l), Min: a, Max: b}
	if errors.Join(err1, err2, err3) != nil || f.Key() != key {
		return File{}, false
	}
	return f, true
}

// databaseOf is the name of the database with a prefix.
func databaseOf(prefix string) string { return prefix[strings.LastIndexByte(prefix, '/')+1:] }

// DatabasePrefix is the key prefix of a database's log.
func DatabasePrefix(v svc.Ref, database string) string { return v.String() + "/db/" + database }

// CheckDatabase rejects a name that cannot be part of keys and file names. Allowed:
// lower-case letters, digits, "-", "_" and, not first, ".", at most 200 bytes.
func CheckDatabase(name string) error {
	for _, r := range name {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.' {
			return fmt.Errorf("database name %q has %q", name, r)
		}
	}
	if name == "" || len(name) > 200 || name[0] == '.' {
		return fmt.Errorf("database name %q is empty, longer than 200 bytes, or begins with a dot", name)
	}
	return nil
}

func versionKey(v svc.Ref) string  { return v.String() + "/version.json" }
func manifestKey(v svc.Ref) string { return v.String() + "/branch.json" }
func deadPrefix(v svc.Ref) string  { return v.String() + "/gc/dead/" }
func leaseKey(node string) string  { return leasePrefix + node + leaseSuffix }

// A lease is the object hosts/{node}.json.
const (
	leasePrefix = "hosts/"
	leaseSuffix = ".json"
)

// splitKey splits a key into the version that it belongs to and the rest.
func splitKey(key string) (v svc.Ref, rest string, ok bool) {
	project, after, ok1 := strings.Cut(key, "/")
	version, rest, ok2 := strings.Cut(after, "/")
	return svc.Ref{Project: project, Version: version}, rest, ok1 && ok2
}

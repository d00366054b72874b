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

// SnapshotLevel is the level of full images. Levels below it hold changes, 0
// as they were committed, higher ones compacted.
const SnapshotLevel = 9

// File names one immutable log file: the changes of transactions Min to Max of
// one store. A file whose Min is 1 is a full image.
type File struct {
	Prefix   string    `json:"prefix"` // of the store that wrote it, see StorePrefix
	Level    int       `json:"level"`
	Min      uint64    `json:"min"`
	Max      uint64    `json:"max"`
	Size     int64     `json:"size"`     // bytes; an object of another size is torn
	Modified time.Time `json:"modified"` // when the object store got it; zero in manifests
}

// Key is the name of the file's object.
func (f File) Key() string {
	return fmt.Sprintf("%s/ltx/%04x/%016x-%016x.ltx", f.Prefix, f.Level, f.Min, f.Max)
}

// ParseKey reads the parts of a key that Key made; ok is false for others.
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

// StorePrefix is where the log of a version's store lies.
func StorePrefix(v svc.Ref, store string) string { return v.String() + "/db/" + store }

// CheckStore says whether name can be a part of keys and of file names:
// lower-case letters, digits, "-", "_" and, not first, ".", at most 200 bytes.
func CheckStore(name string) error {
	for _, r := range name {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.' {
			return fmt.Errorf("store name %q has %q", name, r)
		}
	}
	if name == "" || len(name) > 200 || name[0] == '.' {
		return fmt.Errorf("store name %q is empty, longer than 200 bytes, or begins with a dot", name)
	}
	return nil
}

func versionKey(v svc.Ref) string  { return v.String() + "/version.json" }
func manifestKey(v svc.Ref) string { return v.String() + "/branch.json" }
func deadPrefix(v svc.Ref) string  { return v.String() + "/gc/dead/" }
func leaseKey(host string) string  { return "hosts/" + host + ".json" }

// splitKey gives the version a key belongs to and the rest of the key.
func splitKey(key string) (v svc.Ref, rest string, ok bool) {
	project, after, ok1 := strings.Cut(key, "/")
	version, rest, ok2 := strings.Cut(after, "/")
	return svc.Ref{Project: project, Version: version}, rest, ok1 && ok2
}

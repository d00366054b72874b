package config

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/svcctl/svcctl/internal/lib/text"
	"github.com/svcctl/svcctl/internal/svc"
)

func port(v string) (int, error) { return between(v, 0, 65535) }

func between(v string, lowest, highest int) (int, error) {
	n, err := strconv.Atoi(v)
	if err != nil || n < lowest || n > highest {
		return 0, fmt.Errorf("want a whole number from %d to %d", lowest, highest)
	}
	return n, nil
}

// memory parses a limit of memory in MiB, 0 for none. An idle worker needs 30.
func memory(v string) (int, error) {
	if v == "0" {
		return 0, nil
	}
	return between(v, 64, 1<<20)
}

func boolean(v string) (bool, error) {
	b, err := strconv.ParseBool(v)
	if err != nil {
		return false, errors.New("want 1 or 0")
	}
	return b, nil
}

// countOrBool is a number up to 1000, or 1 for true and 0 for false.
func countOrBool(v string) (int, error) {
	switch v {
	case "true":
		return 1, nil
	case "false":
		return 0, nil
	}
	n, err := between(v, 0, 1000)
	if err != nil {
		return 0, errors.New("want a whole number from 0 to 1000, true or false")
	}
	return n, nil
}

func oneOf(v string, allowed ...string) (string, error) {
	if !slices.Contains(allowed, v) {
		return "", fmt.Errorf("want one of %s", strings.Join(allowed, ", "))
	}
	return v, nil
}

// removedError is the error for a value that earlier versions of the program accept: the
// way out. It stands behind the name of the setting without a colon.
type removedError string

func (e removedError) Error() string { return "is no longer in the program: " + string(e) }

// Duration reads a duration as package duration does; a whole number without a unit is
// seconds, and off is 0 [D24].
func Duration(v string) (time.Duration, error) {
	if v == "off" {
		return 0, nil
	}
	if n, err := strconv.ParseInt(v, 10, 32); err == nil && n >= 0 {
		return time.Duration(n) * time.Second, nil
	}
	return text.Duration(v)
}

// positiveDuration is Duration without 0 and off.
func positiveDuration(v string) (time.Duration, error) {
	d, err := Duration(v)
	if err == nil && d <= 0 {
		err = errors.New("must be longer than 0")
	}
	return d, err
}

// defaultPageOut is the time of SVC_PAGEOUT_IDLE=auto.
const defaultPageOut = 10 * time.Minute

// pageOut reads auto or a Duration.
func pageOut(v string) (PageOut, error) {
	if v == "auto" {
		return PageOut{defaultPageOut, true}, nil
	}
	d, err := Duration(v)
	if err != nil {
		return PageOut{}, fmt.Errorf("want auto, off or a duration such as 10m: %w", err)
	}
	return PageOut{Idle: d}, nil
}

// within is a Duration from lowest to highest.
func within(v string, lowest, highest time.Duration) (time.Duration, error) {
	d, err := Duration(v)
	if err != nil {
		return 0, err
	}
	if d < lowest || d > highest {
		return 0, fmt.Errorf("want a duration from %v to %v", lowest, highest)
	}
	return d, nil
}

var sizePattern = regexp.MustCompile(`^(\d+)(B|KiB|MiB|GiB)?$`)

// Size parses a number of bytes with an optional unit: B, KiB, MiB or GiB.
func Size(v string) (int64, error) {
	m := sizePattern.FindStringSubmatch(v)
	if m == nil {
		return 0, errors.New("want a size such as 64MiB")
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	unit := map[string]int64{"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}[m[2]]
	if err != nil || n < 1 || n > math.MaxInt64/unit {
		return 0, errors.New("want a size above 0, such as 64MiB")
	}
	return n * unit, nil
}

// sizeOrOff is a size, or 0 for off.
func sizeOrOff(v string) (int64, error) {
	if v == "off" {
		return 0, nil
	}
	n, err := Size(v)
	if err != nil {
		return 0, errors.New("want a size such as 64MiB, or off")
	}
	return n, nil
}

func httpURL(v string) (string, error) {
	u, err := url.Parse(v)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return "", errors.New("want an http or https URL without credentials and query")
	}
	return strings.TrimSuffix(v, "/"), nil
}

// httpOrigin is an httpURL without a path: hosts are all that is made of it.
func httpOrigin(v string) (string, error) {
	v, err := httpURL(v)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(v)
	if err != nil || u.Path != "" {
		return "", errors.New("want a scheme, a host and a port, without a path")
	}
	if _, err := port(u.Port()); u.Port() != "" && err != nil {
		return "", err
	}
	return v, nil
}

var domainPattern = regexp.MustCompile(`^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$`)

// prefixes reads IP prefixes and addresses, with commas between, and writes them
// in their shortest form.
func prefixes(v string) ([]string, error) {
	var list []string
	for part := range strings.SplitSeq(v, ",") {
		part = strings.TrimSpace(part)
		prefix, err := netip.ParsePrefix(part)
		if addr, addrErr := netip.ParseAddr(part); addrErr == nil {
			prefix, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		if err != nil {
			return nil, fmt.Errorf("%q is not an IP address or prefix, such as 10.1.0.0/16", part)
		}
		list = append(list, prefix.Masked().String())
	}
	return list, nil
}

// proxies is a list of prefixes that is not nil; off makes it empty.
func proxies(v string) ([]netip.Prefix, error) {
	list := []netip.Prefix{}
	if v == "off" {
		return list, nil
	}
	texts, err := prefixes(v)
	for _, t := range texts {
		list = append(list, netip.MustParsePrefix(t))
	}
	return list, err
}

// files reads absolute paths with commas between.
func files(v string) (list []string, err error) {
	for part := range strings.SplitSeq(v, ",") {
		path, err := absolute(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		list = append(list, path)
	}
	return list, nil
}

// domains reads domain names with commas between.
func domains(v string) (list []string, err error) {
	for part := range strings.SplitSeq(v, ",") {
		name, err := domain(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		list = append(list, name)
	}
	return list, nil
}

func domain(v string) (string, error) {
	v = strings.ToLower(strings.TrimSuffix(v, "."))
	if !domainPattern.MatchString(v) || len(v) > 120 || net.ParseIP(v) != nil {
		return "", errors.New("want a domain name such as preview.example.com")
	}
	return v, nil
}

func absolute(v string) (string, error) {
	path, err := filepath.Abs(v)
	if err != nil || v == "" {
		return "", errors.New("want a path")
	}
	return path, nil
}

// address is a host, which may be empty for all of them, and a port.
func address(v string) (string, error) {
	_, p, err := net.SplitHostPort(v)
	if err != nil {
		return "", errors.New("want an address such as :8792 or 10.0.0.1:8792")
	}
	_, err = port(p)
	return v, err
}

func loopback(v string) (string, error) {
	if v == "off" {
		return "", nil
	}
	host, p, err := net.SplitHostPort(v)
	ip := net.ParseIP(host)
	if err != nil || host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", errors.New("want a loopback address such as 127.0.0.1:8791, or off")
	}
	_, err = port(p)
	return v, err
}

var bucketPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

func bucketName(v string) (string, error) {
	if !bucketPattern.MatchString(v) {
		return "", errors.New("want a bucket name of 3 to 63 lower-case letters, digits, '.' and '-'")
	}
	return v, nil
}

// bucketURI reads a bucket name, or s3://name/prefix.
func bucketURI(v string) (name, prefix string, err error) {
	rest, isURI := strings.CutPrefix(v, "s3://")
	name, prefix, _ = strings.Cut(rest, "/")
	if !isURI && prefix != "" {
		return "", "", errors.New("want a bucket name or s3://name/prefix")
	}
	if name, err = bucketName(name); err != nil {
		return "", "", err
	}
	prefix, err = keyPrefix(prefix)
	return name, prefix, err
}

var partPattern = regexp.MustCompile(`^[A-Za-z0-9._=-]+$`)

// keyPrefix is "" or ends in "/". Empty and dotted parts are refused: stores that
// keep objects in files collapse them, and two prefixes become one.
func keyPrefix(v string) (string, error) {
	v = strings.TrimSuffix(v, "/")
	if v == "" {
		return "", nil
	}
	for part := range strings.SplitSeq(v, "/") {
		if part == "." || part == ".." || !partPattern.MatchString(part) {
			return "", fmt.Errorf("%q cannot be a part of a prefix: want letters, digits, '.', '_', '=' and '-'", part)
		}
	}
	return v + "/", nil
}

// branchStore reads s3://bucket/prefix, file:///directory or an absolute directory.
func branchStore(v string) (BranchStore, error) {
	scheme, rest, isURI := strings.Cut(v, "://")
	switch {
	case isURI && scheme == "s3":
		bucket, prefix, err := bucketURI(v)
		return BranchStore{Bucket: bucket, Prefix: prefix}, err
	case isURI && scheme == "file":
		path, err := url.PathUnescape(rest)
		if err != nil {
			return BranchStore{}, fmt.Errorf("want file:///directory: %w", err)
		}
		return branchDir(path)
	default:
		return branchDir(v)
	}
}

func branchDir(path string) (BranchStore, error) {
	clean := filepath.Clean(path)
	if !filepath.IsAbs(path) || clean == "/" || strings.ContainsRune(path, 0) {
		return BranchStore{}, errors.New("want s3://bucket/prefix, file:///directory or an absolute directory")
	}
	return BranchStore{Dir: clean}, nil
}

// refPatterns reads patterns of git refs. No ref has the characters that are
// refused, which people know from other patterns.
func refPatterns(v string) ([]string, error) {
	var patterns []string
	for p := range strings.SplitSeq(v, ",") {
		p = strings.TrimSpace(p)
		if p == "" || strings.ContainsAny(p, " \t?[]{}\\^~:") {
			return nil, errors.New("want git refs with commas between, such as refs/pull/*,pr/*; only * is special")
		}
		patterns = append(patterns, p)
	}
	return patterns, nil
}

const maxScrubFile = 1 << 20

// scrubFile reads SQL. Whether it fits a database is seen when it runs.
func scrubFile(v string) (string, error) {
	f, err := os.Open(v)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxScrubFile+1))
	content := string(data)
	switch {
	case err != nil:
		return "", err
	case len(data) > maxScrubFile:
		return "", fmt.Errorf("the file has more than %d bytes", maxScrubFile)
	case !utf8.ValidString(content) || strings.ContainsRune(content, 0):
		return "", errors.New("the file is no text")
	}
	return content, svc.CheckScrub(content)
}

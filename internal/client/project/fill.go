package project

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
)

// fill reads the keys that are taken.
func (l *layers) fill(f *File) {
	r := l.r
	l.projectName(f)
	l.entry(f)
	l.assets(f)
	if f.Main = l.flags.Entry; f.Main == "" {
		f.Main = l.main(f)
	}
	l.date(f)
	f.CompatibilityFlags = r.texts(l.get("compatibility_flags"), l.path("compatibility_flags"))
	if len(l.flags.CompatibilityFlags) > 0 {
		f.CompatibilityFlags = l.flags.CompatibilityFlags
	}
	l.vars(f)
	l.kv(f)
	l.databases(f)
	l.buckets(f)
	l.queues(f)
	l.workflows(f)
	l.limits(f)
	l.triggers(f)
	if n, at := l.single("version_metadata"); n != nil {
		r.members(n, at, []string{"binding"}, nil)
		f.VersionMetadata = l.nameOf(n, at, "binding")
	}
	l.declared(f)
	l.objects(f)
	l.services(f)
	l.tails(f)
	l.secrets(f)
	l.settings(f)
	l.bundling(f)
	l.build(f)
	if l.flags.Unbuilt && f.Build.Command == "" {
		l.unbuilt(f)
	}
}

// date reads the compatibility date. Templates have a text in its place.
func (l *layers) date(f *File) {
	if f.CompatibilityDate = l.flags.CompatibilityDate; f.CompatibilityDate != "" {
		return
	}
	n, at := l.get("compatibility_date"), l.path("compatibility_date")
	if n == nil {
		l.r.problem(svc.CodeConfigInvalid, "compatibility_date", l.top.pos,
			`compatibility_date is missing: add today's date, such as "compatibility_date": "2026-11-01", or use --compatibility-date%s`, typo(l.top, "compatibility_date"))
		return
	}
	f.CompatibilityDate = l.r.text(n, at)
	if _, err := time.Parse(time.DateOnly, f.CompatibilityDate); err == nil || n.kind != kindString {
		return
	}
	if l.flags.Unbuilt && (strings.ContainsAny(f.CompatibilityDate, "<>{}$%") || !strings.ContainsAny(f.CompatibilityDate, "0123456789")) {
		l.r.notices = append(l.r.notices, Notice{Info, l.r.at(n.pos), fmt.Sprintf("%s is the placeholder %q: deploy with --compatibility-date 2026-11-01, or another date", at, f.CompatibilityDate)})
		return
	}
	l.r.problem(svc.CodeConfigInvalid, at, n.pos, "%s is %q, which is no date of the form YYYY-MM-DD: correct it, or use --compatibility-date", at, f.CompatibilityDate)
}

// secrets reads the names of the secrets that a version must have.
func (l *layers) secrets(f *File) {
	at, n := l.path("secrets"), l.get("secrets")
	if n == nil || n.empty() || !l.r.is(n, at, kindObject) {
		return
	}
	l.r.members(n, at, []string{"required"}, nil)
	required := n.get("required")
	if required == nil || !l.r.is(required, at+".required", kindArray) {
		return
	}
	for i, item := range required.items {
		if l.r.is(item, fmt.Sprintf("%s.required[%d]", at, i), kindString) {
			f.Secrets = append(f.Secrets, Secret{Name: item.text, At: l.r.at(item.pos)})
		}
	}
}

// main is the entry module; assets need none.
func (l *layers) main(f *File) string {
	n := l.get("main")
	if n == nil && f.Assets != nil {
		return ""
	}
	if n == nil && (adapter(f.Dir) != "" || matches(f.Dir, "nuxt.config.*", "nitro.config.*")) && l.madeByBuild(f, l.top.pos, "main", "") {
		return ""
	}
	if n == nil {
		l.r.problem(svc.CodeConfigInvalid, "main", l.top.pos, "main is missing: it names the file of the worker's entry module%s", typo(l.top, "main"))
		return ""
	}
	text := l.r.text(n, l.path("main"))
	if strings.HasSuffix(text, ".py") {
		l.r.problem(svc.CodeConfigUnsupported, "main", n.pos, "main is Python, which is not supported")
	}
	return under(f.Dir, text)
}

// under makes a path of the file absolute; "" stays "".
func under(dir, p string) string {
	if p == "" || filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(dir, filepath.FromSlash(p))
}

func (l *layers) vars(f *File) {
	at := l.path("vars")
	n := l.get("vars")
	if !l.r.is(n, at, kindObject) {
		return
	}
	f.Vars = map[string]bundle.Var{}
	for _, m := range n.members {
		v, err := bundle.JSONVar(m.val.raw)
		if err != nil {
			l.r.problem(svc.CodeConfigInvalid, at+"."+m.key, m.pos, "%s.%s has a value that is no JSON", at, m.key)
			continue
		}
		if why := bundle.BadVarName(m.key); why != "" {
			l.r.problem(svc.CodeConfigInvalid, at+"."+m.key, m.pos, "%s has a variable with the name %q, which %s", at, m.key, why)
		}
		l.r.bind(m.key, at, m.pos)
		f.Vars[m.key] = v
	}
}

// nameOf reads the name of a binding, which most entries have as "binding" and some as
// "name".
func (l *layers) nameOf(n *node, at, key string) string {
	name := n.get(key)
	if name == nil {
		l.r.problem(svc.CodeConfigInvalid, at, n.pos, `%s has no %q%s`, at, key, typo(n, key))
		return ""
	}
	text := l.r.text(name, at+"."+key)
	if name.kind == kindString {
		l.r.bindResource(text, at, name.pos)
	}
	return text
}

// entries are the objects of a list of bindings.
func (l *layers) entries(key string, each func(at string, n *node)) {
	l.list(l.get(key), l.path(key), each)
}

// list calls each for the objects of the list n at where.
func (l *layers) list(n *node, where string, each func(at string, n *node)) {
	if !l.r.is(n, where, kindArray) {
		return
	}
	for i, item := range n.items {
		if at := fmt.Sprintf("%s[%d]", where, i); l.r.is(item, at, kindObject) {
			each(at, item)
		}
	}
}

func (l *layers) kv(f *File) {
	l.entries("kv_namespaces", func(at string, n *node) {
		l.r.members(n, at, []string{"binding", "id"}, []string{"preview_id", "remote"})
		f.KV = append(f.KV, KV{Binding: l.nameOf(n, at, "binding"), ID: l.r.text(n.get("id"), at+".id")})
	})
}

func (l *layers) databases(f *File) {
	known := []string{"binding", "database_name", "database_id", "migrations_dir", "migrations_table", "migrations_pattern"}
	passed := []string{"preview_database_id", "remote", "jurisdiction", "database_internal_env"}
	l.entries("d1_databases", func(at string, n *node) {
		l.r.members(n, at, known, passed)
		text := func(key string) string { return l.r.text(n.get(key), at+"."+key) }
		d := Database{
			Binding: l.nameOf(n, at, "binding"), Name: text("database_name"), ID: text("database_id"),
			MigrationsTable: cmp.Or(text("migrations_table"), "d1_migrations"),
		}
		l.migrations(&d, n, at, f.Dir)
		f.Databases = append(f.Databases, d)
	})
}

func (l *layers) buckets(f *File) {
	l.entries("r2_buckets", func(at string, n *node) {
		l.r.members(n, at, []string{"binding", "bucket_name", "jurisdiction"}, []string{"preview_bucket_name", "remote"})
		if j := n.get("jurisdiction"); j != nil {
			l.r.warn(j.pos, "%s.jurisdiction has no effect: objects are where the object store of the service is", at)
		}
		b := Bucket{Binding: l.nameOf(n, at, "binding"), Name: l.r.text(n.get("bucket_name"), at+".bucket_name")}
		if b.Name != "" && !bucketName.MatchString(b.Name) {
			l.r.problem(svc.CodeConfigInvalid, at+".bucket_name", n.get("bucket_name").pos,
				"%s.bucket_name is %q; the name of a bucket has 3 to 63 lower-case letters, digits and hyphens, and a hyphen neither first nor last", at, b.Name)
		}
		f.Buckets = append(f.Buckets, b)
	})
}

// bucketName is what R2 takes as the name of a bucket.
var bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$`)

// limits reads the limits that the worker sets for itself. workerd does not measure the CPU
// time of a request, so cpu_ms has no effect.
func (l *layers) limits(f *File) {
	n, at := l.get("limits"), l.path("limits")
	if !l.r.is(n, at, kindObject) {
		return
	}
	l.r.members(n, at, []string{"memory_mb", "subrequests"}, []string{"cpu_ms"})
	f.MemoryMB = l.limit(n, at, "memory_mb", bundle.MinMemoryMB, "MiB")
	f.Subrequests = l.limit(n, at, "subrequests", 1, "calls")
}

// limit reads one limit, a whole number; 0 when it is absent.
func (l *layers) limit(n *node, at, name string, least int, unit string) (limit int) {
	value, at := n.get(name), at+"."+name
	if !l.r.is(value, at, kindNumber) {
		return 0
	}
	if json.Unmarshal(value.raw, &limit) != nil || limit < least {
		l.r.problem(svc.CodeConfigInvalid, at, value.pos, "%s must be a whole number of %s, at least %d", at, unit, least)
	}
	return limit
}

// migrations reads where a database's migrations are. A pattern is written
// relative to the file and kept relative to the directory of the migrations,
// which is how their names are recorded when they are applied.
func (l *layers) migrations(d *Database, n *node, at, dir string) {
	given := l.r.text(n.get("migrations_dir"), at+".migrations_dir")
	d.explicitDir = given != ""
	rel := path.Clean(filepath.ToSlash(cmp.Or(given, "migrations")))
	d.MigrationsDir, d.MigrationsPattern = under(dir, rel), "*.sql"
	pattern := n.get("migrations_pattern")
	text := l.r.text(pattern, at+".migrations_pattern")
	if text == "" {
		return
	}
	text = path.Clean(filepath.ToSlash(text))
	within, ok := strings.CutPrefix(text, rel+"/")
	switch {
	case given == "":
		l.r.problem(svc.CodeConfigInvalid, at, pattern.pos, "%s has a migrations_pattern and no migrations_dir", at)
	case rel == ".":
		d.MigrationsPattern = text
	case !ok:
		l.r.problem(svc.CodeConfigInvalid, at, pattern.pos, "%s.migrations_pattern must begin with %q, its migrations_dir", at, rel+"/")
	default:
		d.MigrationsPattern = within
	}
}

func (l *layers) bundling(f *File) {
	r := l.r
	flag := func(key string, otherwise bool) bool { return r.flag(l.get(key), l.path(key), otherwise) }
	text := func(key string) string { return r.text(l.get(key), l.path(key)) }
	b := &f.Bundling
	b.NoBundle = flag("no_bundle", false)
	b.FindAdditional = flag("find_additional_modules", b.NoBundle)
	b.PreserveNames = flag("preserve_file_names", false)
	b.Minify = flag("minify", false)
	b.KeepNames = flag("keep_names", true)
	b.UploadSourceMaps = flag("upload_source_maps", true)
	b.BaseDir = cmp.Or(under(f.Dir, text("base_dir")), filepath.Dir(f.Main))
	b.TSConfig = under(f.Dir, text("tsconfig"))
	b.JSXFactory, b.JSXFragment = text("jsx_factory"), text("jsx_fragment")
	b.Define = r.textMap(l.get("define"), l.path("define"))
	b.Alias = r.textMap(l.get("alias"), l.path("alias"))
	b.Rules = l.rules()
}

func (l *layers) rules() []Rule {
	known := []string{"ESModule", "CommonJS", "CompiledWasm", "Text", "Data"}
	var rules []Rule
	l.entries("rules", func(at string, n *node) {
		l.r.members(n, at, []string{"type", "globs", "fallthrough"}, nil)
		rule := Rule{
			Type:        l.r.text(n.get("type"), at+".type"),
			Globs:       l.r.texts(n.get("globs"), at+".globs"),
			Fallthrough: l.r.flag(n.get("fallthrough"), at+".fallthrough", false),
		}
		switch {
		case strings.HasPrefix(rule.Type, "Python"):
			l.r.problem(svc.CodeConfigUnsupported, at, n.pos, "%s is of type %s, which is not supported", at, rule.Type)
		case !slices.Contains(known, rule.Type):
			l.r.problem(svc.CodeConfigInvalid, at, n.pos, "%s has the type %q; the types are %s", at, rule.Type, strings.Join(known, ", "))
		case len(rule.Globs) == 0:
			l.r.problem(svc.CodeConfigInvalid, at, n.pos, "%s has no globs", at)
		}
		rules = append(rules, rule)
	})
	return rules
}

func (l *layers) build(f *File) {
	f.Build.Dir = f.Dir
	at, n := l.path("build"), l.get("build")
	if !l.r.is(n, at, kindObject) {
		return
	}
	for _, m := range n.members {
		if hint := retiredBuild[m.key]; hint != "" {
			l.r.warn(m.pos, "%s.%s is retired: %s", at, m.key, hint)
		}
	}
	l.r.members(n, at, append([]string{"command", "cwd", "watch_dir"}, slices.Collect(maps.Keys(retiredBuild))...), nil)
	f.Build.Command = l.r.text(n.get("command"), at+".command")
	f.Build.Dir = cmp.Or(under(f.Dir, l.r.text(n.get("cwd"), at+".cwd")), f.Dir)
	watch := []string{"src"} // wrangler's default
	switch dirs := n.get("watch_dir"); {
	case dirs == nil:
	case dirs.kind == kindString:
		watch = []string{dirs.text}
	default:
		watch = l.r.texts(dirs, at+".watch_dir")
	}
	for _, dir := range watch {
		f.Build.WatchDirs = append(f.Build.WatchDirs, under(f.Dir, dir))
	}
}

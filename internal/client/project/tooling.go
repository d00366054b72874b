package project

// toolingKeys are the keys of wrangler.config.ts with what they are in a project file. "" has no effect here.
//
//nolint:gochecknoglobals // a constant table
var toolingKeys = map[string]string{
	"noBundle": "no_bundle", "minify": "minify", "keepNames": "keep_names", "alias": "alias", "define": "define",
	"findAdditionalModules": "find_additional_modules", "preserveFileNames": "preserve_file_names", "baseDir": "base_dir", "rules": "rules",
	"wasmModules": "wasm_modules", "textBlobs": "text_blobs", "dataBlobs": "data_blobs", "tsconfig": "tsconfig", "jsxFactory": "jsx_factory",
	"jsxFragment": "jsx_fragment", "pythonModules": "python_modules", "uploadSourceMaps": "upload_source_maps", "dev": "dev", "sendMetrics": "send_metrics",
	"types": "",
}

// tooling adds what wrangler.config.ts says to the file that t makes.
func (t translation) tooling(n *node) {
	for _, m := range n.members {
		switch to, known := toolingKeys[m.key]; {
		case m.val.kind == kindNull, known && to == "":
		case m.key == "build":
			t.put("build", m, t.object("build", m.val, fields{"command": "command", "cwd": "cwd", "watchDir": "watch_dir"}))
		case m.key == "assetsDirectory":
			t.directory(m)
		case known:
			t.put(to, m, m.val)
		default:
			t.r.warn(m.pos, "unexpected field %q has no effect%s", m.key, t.misplaced(m.key))
		}
	}
}

// directory sets the directory of static files.
func (t translation) directory(m member) {
	a := t.out.get("assets")
	if a == nil {
		a = &node{kind: kindObject, pos: m.pos}
		t.out.members = append(t.out.members, member{"assets", m.pos, a})
	}
	t.r.words = append(t.r.words, word{"assets.directory", "assetsDirectory"})
	a.members = append(a.members, member{"directory", m.pos, m.val})
}

// misplaced says where a key of the worker belongs.
func (t translation) misplaced(key string) string {
	if _, ofWorker := workerKeys[key]; ofWorker || key == "env" || key == "triggers" || key == "exports" || key == "assets" {
		return ": it belongs in cloudflare.config.ts"
	}
	return ""
}

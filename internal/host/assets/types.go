package assets

import (
	"path"
	"strings"
)

// utf8 is the parameter that types of text get.
const utf8Param = "; charset=utf-8"

// contentTypes are the media types by extension. A type of text gets a charset.
//
//nolint:gochecknoglobals // a constant table
var contentTypes = map[string]string{
	".aac": "audio/aac", ".apng": "image/apng", ".atom": "application/atom+xml", ".avif": "image/avif", ".bin": "application/octet-stream",
	".bmp": "image/bmp", ".br": "application/octet-stream", ".cjs": "text/javascript", ".css": "text/css", ".csv": "text/csv", ".eot": "application/vnd.ms-fontobject",
	".epub": "application/epub+zip", ".flac": "audio/flac", ".geojson": "application/geo+json", ".gif": "image/gif", ".glb": "model/gltf-binary",
	".gltf": "model/gltf+json", ".gz": "application/gzip", ".htm": "text/html", ".html": "text/html", ".ico": "image/vnd.microsoft.icon",
	".ics": "text/calendar", ".jpeg": "image/jpeg", ".jpg": "image/jpeg", ".js": "text/javascript", ".json": "application/json",
	".jsonld": "application/ld+json", ".jsx": "text/jsx", ".jxl": "image/jxl", ".m3u8": "application/vnd.apple.mpegurl", ".m4a": "audio/mp4", ".m4v": "video/mp4",
	".map": "application/json", ".markdown": "text/markdown", ".md": "text/markdown", ".mdx": "text/mdx", ".mid": "audio/midi", ".mjs": "text/javascript",
	".mkv": "video/x-matroska", ".mov": "video/quicktime", ".mp3": "audio/mpeg", ".mp4": "video/mp4", ".mpd": "application/dash+xml", ".mpeg": "video/mpeg",
	".oga": "audio/ogg", ".ogg": "audio/ogg", ".ogv": "video/ogg", ".opus": "audio/ogg", ".otf": "font/otf", ".pdf": "application/pdf",
	".pem": "application/x-pem-file", ".png": "image/png", ".rss": "application/rss+xml", ".rtf": "application/rtf", ".svg": "image/svg+xml",
	".tar": "application/x-tar", ".tif": "image/tiff", ".tiff": "image/tiff", ".toml": "application/toml", ".ts": "video/mp2t", ".tsv": "text/tab-separated-values",
	".ttc": "font/collection", ".ttf": "font/ttf", ".txt": "text/plain", ".vtt": "text/vtt", ".wasm": "application/wasm", ".wav": "audio/wav",
	".weba": "audio/webm", ".webm": "video/webm", ".webmanifest": "application/manifest+json", ".webp": "image/webp", ".woff": "font/woff",
	".woff2": "font/woff2", ".xhtml": "application/xhtml+xml", ".xml": "text/xml", ".xsl": "text/xsl", ".yaml": "text/yaml", ".yml": "text/yaml",
	".zip": "application/zip", ".zst": "application/zstd",
}

// compressible are the types beside those of text, JSON and XML that shrink.
//
//nolint:gochecknoglobals // a constant table
var compressible = map[string]bool{
	"application/json": true, "application/wasm": true, "application/vnd.ms-fontobject": true, "font/ttf": true, "font/otf": true,
	"font/collection": true, "image/vnd.microsoft.icon": true, "image/bmp": true, "application/rtf": true, "application/toml": true,
	"application/vnd.apple.mpegurl": true, "application/x-pem-file": true,
}

// contentType returns the media type of a file, "" for an unknown extension, and whether
// its content is worth compressing.
func contentType(name string) (kind string, small bool) {
	kind, ok := contentTypes[path.Ext(name)]
	if !ok {
		kind = contentTypes[strings.ToLower(path.Ext(name))]
	}
	switch {
	case strings.HasPrefix(kind, "text/"):
		return kind + utf8Param, true
	case strings.HasSuffix(kind, "+json"), strings.HasSuffix(kind, "+xml"):
		return kind, true
	}
	return kind, compressible[kind]
}

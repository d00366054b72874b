package site

import (
	"path"
	"strings"
)

// utf8Param is the parameter that types of text get.
const utf8Param = "; charset=utf-8"

// contentTypes are the media types by extension. A type of text gets a charset.
//
//nolint:gochecknoglobals // a constant table
var contentTypes = map[string]string{
	".3g2": "video/3gpp2", ".3gp": "video/3gpp", ".7z": "application/x-7z-compressed", ".aac": "audio/aac", ".ai": "application/postscript",
	".apk": "application/vnd.android.package-archive", ".apng": "image/apng", ".appcache": "text/cache-manifest", ".asc": "application/pgp-keys",
	".atom": "application/atom+xml", ".avi": "video/x-msvideo", ".avif": "image/avif", ".azw": "application/vnd.amazon.ebook",
	".bin": "application/octet-stream", ".bmp": "image/bmp", ".br": "application/octet-stream", ".bz2": "application/x-bzip2", ".c": "text/x-c",
	".cjs": "application/node", ".class": "application/java-vm", ".conf": "text/plain", ".cpp": "text/x-c", ".crt": "application/x-x509-ca-cert",
	".css": "text/css", ".csv": "text/csv", ".deb": "application/octet-stream", ".dmg": "application/octet-stream", ".doc": "application/msword",
	".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document", ".eot": "application/vnd.ms-fontobject",
	".eps": "application/postscript", ".epub": "application/epub+zip", ".exe": "application/octet-stream", ".flac": "audio/x-flac",
	".flv": "video/x-flv", ".geojson": "application/geo+json", ".gif": "image/gif", ".glb": "model/gltf-binary", ".gltf": "model/gltf+json",
	".gpx": "application/gpx+xml", ".gz": "application/gzip", ".h": "text/x-c", ".heic": "image/heic", ".heif": "image/heif",
	".htc": "text/x-component", ".htm": "text/html", ".html": "text/html", ".ico": "image/vnd.microsoft.icon", ".ics": "text/calendar",
	".ini": "text/plain", ".iso": "application/octet-stream", ".jar": "application/java-archive", ".java": "text/x-java-source", ".jpe": "image/jpeg",
	".jpeg": "image/jpeg", ".jpg": "image/jpeg", ".js": "text/javascript", ".json": "application/json", ".json5": "application/json5",
	".jsonld": "application/ld+json", ".jsx": "text/jsx", ".jxl": "image/jxl", ".key": "application/vnd.apple.keynote",
	".kml": "application/vnd.google-earth.kml+xml", ".ktx2": "image/ktx2", ".less": "text/less", ".list": "text/plain", ".log": "text/plain",
	".m3u": "audio/x-mpegurl", ".m3u8": "application/vnd.apple.mpegurl", ".m4a": "audio/mp4", ".m4v": "video/x-m4v", ".manifest": "text/cache-manifest",
	".map": "application/json", ".markdown": "text/markdown", ".md": "text/markdown", ".mdx": "text/mdx", ".mid": "audio/midi", ".midi": "audio/midi",
	".mjs": "text/javascript", ".mkv": "video/x-matroska", ".mov": "video/quicktime", ".mp2": "audio/mpeg", ".mp3": "audio/mpeg", ".mp4": "video/mp4",
	".mpd": "application/dash+xml", ".mpeg": "video/mpeg", ".mpg": "video/mpeg", ".msi": "application/octet-stream", ".mtl": "model/mtl",
	".mts": "video/mp2t", ".n3": "text/n3", ".numbers": "application/vnd.apple.numbers", ".obj": "model/obj",
	".odp": "application/vnd.oasis.opendocument.presentation", ".ods": "application/vnd.oasis.opendocument.spreadsheet",
	".odt": "application/vnd.oasis.opendocument.text", ".oga": "audio/ogg", ".ogg": "audio/ogg", ".ogv": "video/ogg", ".ogx": "application/ogg",
	".opus": "audio/ogg", ".otf": "font/otf", ".pages": "application/vnd.apple.pages", ".pdf": "application/pdf", ".pem": "application/x-x509-ca-cert",
	".php": "application/x-httpd-php", ".pl": "application/x-perl", ".png": "image/png", ".ppt": "application/vnd.ms-powerpoint",
	".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation", ".ps": "application/postscript",
	".psd": "image/vnd.adobe.photoshop", ".rar": "application/vnd.rar", ".rdf": "application/rdf+xml", ".rss": "application/rss+xml",
	".rtf": "application/rtf", ".sass": "text/x-sass", ".scss": "text/x-scss", ".sgml": "text/sgml", ".sh": "application/x-sh", ".shtml": "text/html",
	".sql": "application/sql", ".srt": "application/x-subrip", ".stl": "model/stl", ".stylus": "text/stylus", ".svg": "image/svg+xml",
	".svgz": "image/svg+xml", ".swf": "application/x-shockwave-flash", ".tar": "application/x-tar", ".text": "text/plain", ".tif": "image/tiff",
	".tiff": "image/tiff", ".toml": "application/toml", ".ts": "video/mp2t", ".tsv": "text/tab-separated-values", ".ttc": "font/collection",
	".ttf": "font/ttf", ".ttml": "application/ttml+xml", ".txt": "text/plain", ".usdz": "model/vnd.usdz+zip", ".vcard": "text/vcard",
	".vcf": "text/x-vcard", ".vtt": "text/vtt", ".wasm": "application/wasm", ".wav": "audio/wav", ".weba": "audio/webm", ".webm": "video/webm",
	".webmanifest": "application/manifest+json", ".webp": "image/webp", ".woff": "font/woff", ".woff2": "font/woff2", ".xhtml": "application/xhtml+xml",
	".xls": "application/vnd.ms-excel", ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", ".xml": "application/xml",
	".xpi": "application/x-xpinstall", ".xsd": "application/xml", ".xsl": "application/xml", ".xslt": "application/xslt+xml", ".xyz": "chemical/x-xyz",
	".yaml": "text/yaml", ".yml": "text/yaml", ".zip": "application/zip", ".zst": "application/zstd",
}

// compressible are the types beside those of text, JSON and XML that shrink.
//
//nolint:gochecknoglobals // a constant table
var compressible = map[string]bool{
	"application/json": true, "application/wasm": true, "application/vnd.ms-fontobject": true, "font/ttf": true, "font/otf": true,
	"font/collection": true, "image/vnd.microsoft.icon": true, "image/bmp": true, "application/rtf": true, "application/toml": true,
	"application/vnd.apple.mpegurl": true, "application/x-x509-ca-cert": true, "application/xml": true, "application/sql": true,
	"application/json5": true, "application/node": true, "application/postscript": true, "application/x-sh": true, "application/x-subrip": true,
	"application/pgp-keys": true, "application/x-httpd-php": true, "application/x-perl": true, "model/obj": true, "model/mtl": true,
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

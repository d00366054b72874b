package bundle_test

import (
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
)

// TestHasContentHash: names that frameworks write, and names of ordinary files.
func TestHasContentHash(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"assets/index-DiwrgTda.js", "assets/index-BX4m9Q2z.css", "assets/index-D-wrgTda.js", "assets/index-Bq3x_9Za.js.map", // Vite
		"assets/logo-C5kaLoma.svg", "assets/app-3f9a1c2b.js", "assets/inter-latin-400-normal-C38fXH4l.woff2",
		"main.3f2a1b9c.js", "static/js/main.3f2a1b9c.chunk.js", "static/js/787.dda7d3e4.chunk.js.LICENSE.txt", // webpack
		"static/media/logo.6ce24c58023cc2f8fd88fe9d219db6c6.svg", "3f2a1b9c0d1e.js",
		"_next/static/chunks/1234-9af3b2c1d0e4f5a6.js", "_next/static/chunks/framework.js", "_next/static/Xk2_z/_buildManifest.js",
		"_astro/page.Bq3x9Z_a.css", "_app/immutable/entry/start.BpZ6Lhl2.js", "_nuxt/Dk3x9a_b.js",
		"main-5QZ3LFK2.js", "chunk-FFHMD2TL.js", "polyfills-5CFQRCPP.js", // Angular, esbuild
		"index.a1b2c3d4.js", "component---src-pages-index-js-3f9a1c2b4d5e6f708192.js", "build/root-KZ5QX3TG.js", // Parcel, Gatsby, Remix
	} {
		if !bundle.HasContentHash(name) {
			t.Errorf("%s has no hash", name)
		}
	}
	for _, name := range []string{
		"favicon.ico", "bootstrap-5.3.0.min.js", "robots.txt", "jquery-3.7.1.js", "documentation.html", "background.png", "index-DiwrgTda.html",
		"2024-01-31.pdf", "20240131.pdf", "report-20240131.pdf", "IMG_20240131_123456.jpg", "photo-20240131T1200.jpg", "1920x1080.png", "icon-192x192.png",
		"calendar.js", "app-calendar.js", "wordpress.svg", "WordPress.svg", "TypeScript.svg", "backgroundImage.png", "darkMode.css", "logo-darkMode.svg",
		"README.md", "CHANGELOG.md", "LICENSE.txt", "CONTRIBUTING.md", "Section1.md", "apple-touch-icon-180x180.png", "Roboto-Regular.woff2",
		"fa-solid-900.woff2", "service-worker.js", "manifest.webmanifest", "sitemap-0.xml", "three.module.min.js", "assets/app.js", "iPhone14.png",
		"app-foo-page.js", "my-v2-final.js", "app-v2-Final.js", ".well-known/security.txt", "material-symbols-outlined.woff2", "PostgreSQL.svg",
		"JavaScript.svg", "helvetica55roman.woff", "section-10000000.txt", "bootstrap5.css", "background2.png",
	} {
		if bundle.HasContentHash(name) {
			t.Errorf("%s has a hash", name)
		}
	}
}

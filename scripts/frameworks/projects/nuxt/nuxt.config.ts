export default defineNuxtConfig({
  compatibilityDate: "2026-10-01",
  telemetry: false,
  app: { head: { title: "Nuxt", htmlAttrs: { lang: "en" }, link: [{ rel: "icon", href: "data:," }] } },
  nitro: { preset: "cloudflare_module", cloudflare: { deployConfig: true, nodeCompat: true } },
});

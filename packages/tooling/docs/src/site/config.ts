/** The site of docs/: VitePress's own look, everything it needs in its own files. */
import { copyFileSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { UserConfig } from "vitepress";
import { slugOf } from "../markdown.ts";
import { decisions } from "../pages/decisions.ts";
import { SHAPE } from "../pages/shape.ts";
import { GUIDE } from "./guide.ts";

const DOCS = join(import.meta.dirname, "../../../../../docs");

export const site: UserConfig = {
  title: "svc",
  description: "A self-hosted agent gateway in one binary",
  lang: "en",
  // Both are ignored by git: checks read the sources, not the built site.
  outDir: "../dist/docs",
  cacheDir: "./.vitepress/.gen",
  // A page opened from a disk or below a path of any name works with these; a server needs no rule for them.
  cleanUrls: false,
  markdown: { anchor: { slugify: slugOf }, languageAlias: { [SHAPE]: "ts", caddyfile: "nginx" } },
  themeConfig: {
    search: { provider: "local" },
    outline: { level: [2, 3] },
    nav: [
      { text: "Guide", link: "/guide/install" },
      { text: "Reference", link: "/reference/config" },
      { text: "Architecture", link: "/architecture" },
    ],
    sidebar: [
      { text: "Guide", items: GUIDE.map(({ page, title }) => ({ text: title, link: `/guide/${page}` })) },
      { text: "Channels", items: pagesOf("channels") },
      { text: "Operations", items: pagesOf("operations") },
      {
        text: "Reference",
        items: [
          { text: "Config", link: "/reference/config" },
          { text: "Commands", link: "/reference/cli" },
          { text: "Errors", link: "/reference/errors" },
          { text: "HTTP", link: "/reference/http" },
          { text: "API document", link: "/reference/openapi" },
        ],
      },
      {
        text: "Design",
        items: [
          { text: "Glossary", link: "/glossary" },
          { text: "Architecture", link: "/architecture" },
          { text: "State of features", link: "/shared-state" },
          { text: "Security", link: "/security" },
          { text: "Decisions", link: "/decisions/", collapsed: true, items: decisionItems() },
        ],
      },
    ],
  },
  // What a page of operations links to is fetched from beside it.
  buildEnd: ({ outDir }) => {
    for (const file of readdirSync(join(DOCS, "operations")).filter((name) => !name.endsWith(".md"))) {
      copyFileSync(join(DOCS, "operations", file), join(outDir, "operations", file));
    }
  },
  vite: {
    // The pages are outside of any package, so nothing is found from where they are.
    resolve: { alias: { "vitepress/theme-without-fonts": theme() } },
  },
};

/** The look of VitePress with the fonts of the reader's system. */
function theme(): string {
  return createRequire(import.meta.url).resolve("vitepress/theme-without-fonts");
}

/** Every page of a folder, by its own heading. */
function pagesOf(folder: string): { text: string; link: string }[] {
  const pages = readdirSync(join(DOCS, folder)).filter((name) => name.endsWith(".md"));
  return pages.map((name) => {
    const [, title = name] = /^# (.+)$/m.exec(readFileSync(join(DOCS, folder, name), "utf8")) ?? [];
    return { text: title, link: `/${folder}/${name.replace(/\.md$/, "")}` };
  });
}

function decisionItems(): { text: string; link: string }[] {
  const folder = join(DOCS, "decisions");
  const files = readdirSync(folder).map((name) => [`docs/decisions/${name}`, readFileSync(join(folder, name), "utf8")]);
  return decisions(new Map(files as [string, string][])).map(({ file, title }) => ({
    text: title,
    link: `/decisions/${file.replace(/\.md$/, "")}`,
  }));
}

// A model's text can come from any page or person the model reads. The page renders only elements of a fixed list, links of
// four schemes, and no word is lost. Colours of code must not change the code.
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { Fragment } from "preact";
import { describe, expect, test } from "vitest";
import { highlighted } from "../src/components/highlight.ts";
import { markdownOf } from "../src/components/markdown.tsx";

interface Drawn {
  readonly type: string;
  readonly props: Readonly<Record<string, unknown>>;
}

/** Every element of the tree, and its text. */
function walk(node: unknown, elements: Drawn[] = [], texts: string[] = []): { elements: Drawn[]; texts: string[] } {
  if (typeof node === "string" || typeof node === "number") texts.push(String(node));
  else if (Array.isArray(node)) for (const one of node) walk(one, elements, texts);
  else if (typeof node === "object" && node !== null) {
    const { type, props } = node as { type: unknown; props: Record<string, unknown> };
    const name = typeof type === "function" ? type.name : String(type);
    if (type !== Fragment) elements.push({ type: name, props });
    if (name === "CodeBlock") texts.push(String(props["text"]));
    walk(props["children"], elements, texts);
  }
  return { elements, texts };
}
const drawn = (text: string) => walk(markdownOf(text));
const textOf = (text: string) => drawn(text).texts.join("");

const ALLOWED = new Set(
  "p h3 h4 h5 h6 ul ol li blockquote hr br div table thead tbody tr th td strong em del code a span CodeBlock".split(
    " ",
  ),
);
const ATTRIBUTES = new Set(
  "key dir class children value role aria-label tabIndex scope href title target rel referrerpolicy text info".split(
    " ",
  ),
);

/** Elements and links of a text that must not be rendered. */
const unsafe = (text: string): unknown[] =>
  drawn(text).elements.filter(({ type, props }) => {
    const isKnown = ALLOWED.has(type) && Object.keys(props).every((name) => ATTRIBUTES.has(name));
    if (!isKnown) return true;
    if (type !== "a") return props["href"] !== undefined || props["target"] !== undefined;
    return !/^(?:https?:\/\/|mailto:|tel:)/i.test(String(props["href"])) || props["rel"] !== LINK_REL;
  });
const LINK_REL = "noopener noreferrer nofollow ugc";

const ATTACKS: readonly string[] = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "<svg/onload=alert(1)>",
  '<iframe srcdoc="<script>parent.hacked=1</script>"></iframe>',
  "<style>*{background:url(https://evil.example)}</style>",
  "<a href=javascript:alert(1)>x</a>",
  "[x](javascript:alert(1))",
  "[x](JaVaScRiPt:alert(1))",
  "[x](java\nscript:alert(1))",
  "[x](java&Tab;script:alert(1))",
  "[x](&#x6a;avascript:alert(1))",
  "[x](\u0001javascript:alert(1))",
  "[x](<javascript:alert(1)>)",
  "[x](vbscript:msgbox(1))",
  "[x](data:text/html;base64,PHNjcmlwdD4=)",
  "[x](file:///etc/passwd)",
  "[x](blob:https://evil.example/1)",
  "[x](//evil.example)",
  "[x](\\\\evil.example\\share)",
  "[x][1]\n\n[1]: javascript:alert(1)",
  "![x](javascript:alert(1))",
  '![x](https://evil.example/"onerror="alert(1))',
  '[x](https://evil.example "onmouseover=alert(1)")',
  '[x](https://evil.example/"><script>alert(1)</script>)',
  "<javascript:alert(1)>",
  "<https://evil.example/?a=<script>>",
  "```<script>\nalert(1)\n```",
  '```js"><img src=x onerror=alert(1)>\n</code></pre><script>alert(1)</script>\n```',
  "`</code><script>alert(1)</script>`",
  "| <img src=x onerror=alert(1)> |\n|---|\n| [x](javascript:alert(1)) |",
  "# <script>alert(1)</script>",
  "> <form action=https://evil.example><input name=x></form>",
  "- [ ] <input autofocus onfocus=alert(1)>",
  "__proto__ [constructor](javascript:alert(1))",
  "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
  "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
  "$(touch /tmp/x) ${7*7} {{7*7}}",
];

describe("foreign text", () => {
  test.each(ATTACKS)("draws only plain elements: %s", (attack) => {
    const texts = [attack, `before ${attack} after`, `- ${attack}`, `> ${attack}`, `**${attack}**`];
    expect(texts.flatMap(unsafe)).toEqual([]);
  });

  test("draws only plain elements for any text", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        ...ATTACKS,
        "[",
        "](",
        ")",
        "![",
        "<",
        ">",
        "`",
        "```",
        "\n",
        "|",
        "\\",
        "&#",
        "javascript:",
        "https://a.example",
      ),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        expect(unsafe(pieces.join(""))).toEqual([]);
      }),
      { numRuns: cases(2000) },
    );
  });

  test("never becomes HTML, and loses no word", () => {
    for (const attack of ATTACKS.filter((one) => one.startsWith("<script") || one.startsWith("<svg"))) {
      expect(textOf(attack)).toBe(attack);
    }
  });
});

describe("links", () => {
  const links = (text: string) => drawn(text).elements.filter(({ type }) => type === "a");

  test("show the real host if their label names another address", () => {
    expect(textOf("[the docs](https://docs.example/a)")).toBe("the docs");
    expect(textOf("[https://bank.example](https://evil.example/login)")).toBe("https://bank.example (evil.example)");
    expect(textOf("[bank.example/login](https://evil.example)")).toBe("bank.example/login (evil.example)");
    expect(textOf("[**bank.example**](https://bank.example@evil.example/)")).toBe("bank.example (evil.example)");
    expect(textOf("[docs.example](https://docs.example/a)")).toBe("docs.example");
    expect(links("[x](https://a.example/b)")[0]?.props).toMatchObject({
      href: "https://a.example/b",
      target: "_blank",
    });
  });

  test("show refused targets as text, and pictures as links with their host", () => {
    expect([textOf("[x](javascript:y)"), links("[x](javascript:y)")]).toEqual(["x (javascript:y)", []]);
    expect(textOf("![a cat](https://pictures.example/cat.png)")).toBe("Picture: a cat (pictures.example)");
    expect(drawn("![a cat](https://pictures.example/cat.png)").elements.map(({ type }) => type)).not.toContain("img");
  });
});

test("renders lists, tables, tasks, headings and code", () => {
  const types = (text: string) => drawn(text).elements.map(({ type }) => type);
  expect(types("3. a\n4. b")).toEqual(["ol", "li", "li"]);
  expect(
    drawn("3. a\n4. b")
      .elements.filter(({ type }) => type === "li")
      .map(({ props }) => props["value"]),
  ).toEqual([3, 4]);
  expect(types("- a\n  - b").filter((one) => one === "ul")).toHaveLength(2);
  expect(types("| a | b |\n|---|--:|\n| 1 | 2 |").filter((one) => one === "td")).toHaveLength(2);
  expect(types("# a")).toEqual(["h3"]);
  const [code] = drawn("```ts title=x\nconst a = 1;\n```").elements;
  expect(code).toMatchObject({ type: "CodeBlock", props: { text: "const a = 1;", info: "ts title=x" } });
});

describe("colours of code", () => {
  test("distinguish kinds and leave the text unchanged", () => {
    const pieces = highlighted('const a = "b"; // c', "ts")!;
    expect(pieces.map(({ text }) => text).join("")).toBe('const a = "b"; // c');
    expect(pieces.filter(({ kind }) => kind !== undefined).map(({ text, kind }) => [text, kind])).toEqual([
      ["const", "keyword"],
      ['"b"', "string"],
      ["// c", "comment"],
    ]);
  });

  test.each(["ts", "python", "bash", "html", "json", "yaml", "sql", "diff", "toml", "powershell"])(
    "never change what is copied, whatever it is: %s",
    (language) => {
      fc.assert(
        fc.property(fc.array(fc.oneof(fc.string(), fc.constantFrom(...ATTACKS)), { maxLength: 6 }), (parts) => {
          const text = parts.join("\n");
          expect((highlighted(text, language) ?? [{ text }]).map((piece) => piece.text).join("")).toBe(text);
        }),
        { numRuns: cases(200) },
      );
    },
  );

  test("are absent for an unknown language", () => {
    for (const language of ["nope", "__proto__", "constructor", ""]) expect(highlighted("a", language)).toBeUndefined();
  });
});

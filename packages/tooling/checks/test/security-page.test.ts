// What the page says is defended is believed: a door that is missing, and a test that is gone, must not go unseen.
import { describe, expect, test } from "vitest";
import { securityPage } from "../src/checks/security-page.ts";
import { judge, manifestFile } from "./judge.ts";

const TESTS = "packages/core/gateway/test/a.test.ts";
const SUITE = "packages/tooling/testkit/src/conformance/browser/checks.ts";
const FIXTURE = {
  "packages/core/gateway/src/routes/core-paths.ts":
    'const PAGE = ["/", "/assets/{file}"];\nexport const CORE_PATHS = ["/webhook", ...PAGE];',
  "packages/features/channel-x/package.json": manifestFile("@svc/channel-x", { svc: { ingress: ["/x"] } }),
  "packages/features/keys/package.json": manifestFile("@svc/keys", {
    svc: { routes: ["/api/keys/{id}"], open: ["/api/keys/try"] },
  }),
  "packages/features/new/package.json": manifestFile("@svc/new", { svc: { ingress: ["/new"] } }),
  "profiles/all.toml": 'features = ["channel-x", "keys"]',
  "packages/core/kit/package.json": manifestFile("@svc/kit"),
  [SUITE]: `
    export const checks = (bench) => [
      { name: "a page stays data", run: () => opened(\`no title of a check\`) },
      attack("no process is killed", { script: "kill" }),
      { name: \`a redirect: \${path}\` },
    ];
  `,
  [TESTS]: `
    describe("guessing", () => {
      test("ten wrong tokens lock out", () => {});
      test.each([1])("%s is counted", () => {});
      describe("by others", () => it.for([1])(\`of \${1} clients\`, () => {}));
    });
    describe("reading", () => {
      test("ten wrong tokens lock out", () => {});
      test("ten wrong tokens lock out, for five minutes", () => {});
    });
    test.skipIf(true)("alone", { meta: { skipReason: "x" } }, () => {});
    it("alone with another", () => {});
    notATest("elsewhere", () => {});
  `,
};

const ENDPOINTS = [
  "| Where | Who |",
  "| --- | --- |",
  "| `POST /webhook` | a device |",
  "| `GET /`, `/assets/{file}` | everybody |",
  "| `/x` | a platform |",
  "| `PUT /api/keys/{id}`, `POST /api/keys/try` | everybody |",
  "| the control socket | the owner |",
];

interface PageOptions {
  readonly endpoints?: readonly string[];
  readonly threats?: readonly string[];
  readonly after?: string;
}

const page = ({
  endpoints = ENDPOINTS,
  threats = [`- Guessing. \`${TESTS} › alone\``],
  after = "",
}: PageOptions): string =>
  [
    "# Security",
    "<!-- endpoints -->",
    "",
    ...endpoints,
    "",
    "<!-- /endpoints -->",
    "<!-- threats -->",
    "",
    "## Spoofing",
    "",
    ...threats,
    "",
    "<!-- /threats -->",
    after,
  ].join("\n");

const found = (options: PageOptions, fixture: Readonly<Record<string, string>> = FIXTURE): string[] =>
  judge(securityPage, { ...fixture, "docs/security.md": page(options) });

/** The line of the first threat. */
const LINE = 17;
const named = (reference: string): string[] => found({ threats: [`- Guessing. \`${TESTS} › ${reference}\``] });

describe("the page", () => {
  test("passes when every path has a row, and every threat a test", () => {
    expect(found({})).toEqual([]);
  });

  test("fails without the page, and without its parts", () => {
    expect(judge(securityPage, FIXTURE)).toEqual(["docs/security.md:0 The page is missing."]);
    expect(judge(securityPage, { ...FIXTURE, "docs/security.md": "# Security" })).toEqual([
      "docs/security.md:0 Nothing stands between <!-- endpoints --> and <!-- /endpoints -->.",
      "docs/security.md:0 Nothing stands between <!-- threats --> and <!-- /threats -->.",
    ]);
    expect(found({ threats: ["Nothing is threatened."] })).toEqual([
      "docs/security.md:0 Nothing stands between <!-- threats --> and <!-- /threats -->.",
    ]);
  });
});

describe("the table of doors", () => {
  test.each([
    ["/webhook", "core", 2],
    ["/x", "@svc/channel-x", 4],
    ["/api/keys/try", "@svc/keys", 5],
    ["/assets/{file}", "core", 3],
  ])("has to have %s of %s", (path, owner, row) => {
    const endpoints = ENDPOINTS.map((line, at) => (at === row ? line.replace(path, "").replace("``", "") : line));
    expect(found({ endpoints })).toContain(`docs/security.md:4 The table has no row for ${path} of ${owner}.`);
  });

  test("has none that nobody serves; a path in another cell counts for nothing", () => {
    expect(found({ endpoints: [...ENDPOINTS, "| `GET /admin` | nobody |"] })).toEqual([
      "docs/security.md:11 No route serves /admin.",
    ]);
    const moved = ENDPOINTS.map((line) => line.replace("| `/x` | a platform |", "| a platform | `/x` |"));
    expect(found({ endpoints: moved })).toEqual(["docs/security.md:4 The table has no row for /x of @svc/channel-x."]);
  });
});

describe("a threat", () => {
  test.each(["a page stays data", "no process is killed", "a redirect: ${path}"])(
    "may name a check of a conformance suite: %s",
    (title) => {
      expect(found({ threats: [`- Guessing. \`${SUITE} › ${title}\``] })).toEqual([]);
    },
  );

  test("may name no check that a suite has not", () => {
    expect(found({ threats: [`- Guessing. \`${SUITE} › kill\``] })).toEqual([
      `docs/security.md:${LINE} ${SUITE} has no test "kill".`,
    ]);
  });

  test("without a test is told by its line; one below it is its own", () => {
    expect(found({ threats: ["- Guessing.", "- Reading.", `  - \`${TESTS} › alone\``, "- `npm test`"] })).toEqual([
      `docs/security.md:${LINE} No test is named for this.`,
      `docs/security.md:${LINE + 3} No test is named for this.`,
    ]);
  });

  test.each([
    "alone",
    "alone with",
    "guessing › ten wrong tokens lock out",
    "reading › ten wrong tokens lock out",
    "ten wrong tokens lock out, for five minutes",
    "%s is counted",
    "guessing › %s",
    "guessing › by others › of ${1} clients",
    "by others › of",
  ])("may name a test by %s", (reference) => {
    expect(named(reference)).toEqual([]);
  });

  test.each([
    ["a test that is gone", `${TESTS} has no test "a test that is gone".`],
    ["alon", `${TESTS} has no test "alon".`],
    ["elsewhere", `${TESTS} has no test "elsewhere".`],
    ["guessing", `${TESTS} has no test "guessing".`],
    ["writing › alone", `${TESTS} has no test "writing › alone".`],
    ["by others › guessing › of", `${TESTS} has no test "by others › guessing › of".`],
    ["ten wrong tokens", `"ten wrong tokens" may be any of 3 tests of ${TESTS}.`],
    ["ten wrong tokens lock out", `"ten wrong tokens lock out" may be any of 2 tests of ${TESTS}.`],
  ])("may not name one by %s", (reference, message) => {
    expect(named(reference)).toEqual([`docs/security.md:${LINE} ${message}`]);
  });

  test("may not name a file that is gone, nor may any other line", () => {
    const gone = "packages/core/gateway/test/b.test.ts";
    const after = `See \`${gone} › alone\`.\n\n\`\`\`text\n\`${gone} › shown\`\n\`\`\`\n`;
    expect(found({ after })).toEqual([`docs/security.md:${LINE + 3} There is no file ${gone}.`]);
  });
});

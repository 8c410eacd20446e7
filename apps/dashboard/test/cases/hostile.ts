import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { seriousFindings } from "../fixture/axe.ts";
import { layoutProblems } from "../fixture/layout.ts";
import { signedIn } from "../fixture/person.ts";
import { removeProcedure, writeProcedure } from "../fixture/procedures.ts";
import type { Scene } from "../fixture/scene.ts";
import { show } from "../fixture/switch-language.ts";

/** Each would run, load or navigate if it became markup or a link. */
const IMAGE = `<img src=x onerror="window.hacked=1">`;
const SCRIPT = `"><script>window.hacked=1</script>`;
const LINK = [
  "[click](javascript:window.hacked=1) javascript:window.hacked=1 vbscript:window.hacked=1",
  "data:text/html,<script>parent.hacked=1</script> <svg onload=window.hacked=1></svg>",
  `<iframe srcdoc="<script>parent.hacked=1</script>"></iframe> <a href=javascript:window.hacked=1>x</a>`,
  "<style>*{background:url(https://foreign.example/css)}</style> <base href=https://foreign.example/>",
  "<meta http-equiv=refresh content=0;url=https://foreign.example/> <form action=https://foreign.example/></form>",
].join(" ");
/** What each of them would be in the page. */
const MARKUP =
  "main :is(img, script, iframe, style, base, meta, [onload], [onerror], [action*=foreign]), a:is([href^='javascript:' i], [href^='vbscript:' i], [href^='data:' i])";

/** Also turns the direction of what follows, and is wider than any screen. */
const WORD = `${"W".repeat(120)}`;
const LINE = `${IMAGE}${SCRIPT}[x](javascript:window.hacked=1)\u202e${WORD}`;
/** Moves a terminal's cursor, too. */
const TEXT = `${LINE} \u001b[2J\u001b[31m ${LINK}`;
/** As long as a name may be. */
const NAME = `hostile-${"n".repeat(56)}`;

const toml = (text: string): string => JSON.stringify(text).replaceAll("\u007f", "\\u007f");

const HOSTILE_SOP = `[sop]
description = ${toml(TEXT)}
version = ${toml(LINE.slice(0, 64))}
execution_mode = "step_by_step"

[[triggers]]
type = "manual"
condition = ${toml(`$.a == ${JSON.stringify(TEXT)}`)}

[[triggers]]
type = "webhook"
path = "/${WORD}"

[[triggers]]
type = "channel_event"
event = ${toml(LINE.slice(0, 128))}

[[triggers]]
type = "mqtt"
topic = ${toml(LINE)}

[[triggers]]
type = "peripheral"
board = "${WORD.slice(0, 64)}"
signal = "${WORD}"

[[triggers]]
type = "cron"
expression = "0 4 * * *"
`;

const HOSTILE_STEPS = `# ${LINE}

${TEXT.replaceAll("\n", " ")}

## Steps

1. **${LINE.slice(0, 190)}** — ${TEXT}
   - tools: file_read

2. **Fail** — Do it with the wrong key. ${TEXT}
`;

/** Every value of it that may be wrong is. */
const WRONG_SOP = `[sop]
agent = ${toml(LINE.slice(0, 64))}
priority = ${toml(LINE)}
${toml(LINE)} = ${toml(LINE)}

[[triggers]]
type = ${toml(LINE)}
expression = ${toml(LINE)}
timezone = ${toml(LINE.slice(0, 64))}
path = ${toml(LINE)}

[[steps]]
title = ${toml(TEXT)}
tool = ${toml(LINE)}
tools = [${toml(LINE)}]
args = { path = ${toml(TEXT)} }
`;

/** Runs in the page: what turns the direction of writing where it stands must turn nothing beside it. */
function unboundTurns(): string[] {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found: string[] = [];
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
    if (!node.textContent?.includes("\u202e")) continue;
    let around = node.parentElement;
    while (around !== null) {
      const { unicodeBidi, display } = getComputedStyle(around);
      if (/isolate|plaintext/.test(unicodeBidi) || display !== "inline") break;
      around = around.parentElement;
    }
    const alone = around !== null && around.textContent?.trim() === node.textContent.trim();
    if (around === null || (getComputedStyle(around).unicodeBidi === "normal" && !alone)) {
      found.push(`<${node.parentElement?.tagName} class="${node.parentElement?.className}"> in <${around?.tagName}>`);
    }
  }
  return found;
}

/** Opens every disclosure and returns what ran, loaded, changed direction or broke. */
async function attackOn(page: Page, view: string): Promise<string[]> {
  await show(page, view);
  return lookOver(page, view);
}

async function lookOver(page: Page, view: string): Promise<string[]> {
  await page.evaluate("for (const one of document.querySelectorAll('main details')) one.open = true");
  await page.locator(".reading").first().waitFor({ state: "detached" });
  const violations = [
    ...(await layoutProblems(page)),
    ...(await page.evaluate<string[]>(`(${unboundTurns.toString()})()`)).map(
      (one) => `turns what is beside it: ${one}`,
    ),
  ];
  if ((await page.evaluate("window.hacked")) !== undefined) violations.push("it ran");
  if ((await page.locator(MARKUP).count()) > 0) violations.push("it is markup");
  // What is typed in a field is no text of the page.
  const shown = await page.evaluate<string>(
    "[document.body.innerText, ...[...document.querySelectorAll('input, textarea')].map(({ value }) => value)].join()",
  );
  if (!/onerror|WWWWWWWWWW|nnnnnnnnnn/.test(shown)) violations.push("shows nothing of it");
  return violations.map((violation) => `${view}: ${violation}`);
}

export function hostileCases(scene: () => Scene): void {
  test.each([
    ["a desk", { width: 1280, height: 800 }],
    ["a phone", { width: 360, height: 740 }],
  ])("every value of a procedure stays text and breaks no view on %s", async (_where, viewport) => {
    const { browser, fixture } = scene();
    await using person = await signedIn(browser, fixture, { viewport, reducedMotion: "reduce" });
    const { page } = person;
    const call = async (method: string, path: string, body?: object): Promise<Readonly<Record<string, unknown>>> => {
      const response = await fixture.daemon.request(path, { method, token: fixture.token, ...(body && { body }) });
      const answer = (await response.json()) as Readonly<Record<string, unknown>>;
      if (!response.ok) throw new Error(`${path} was answered ${JSON.stringify(answer)}`);
      return answer;
    };
    await fixture.rename(LINE.slice(0, 60));
    writeProcedure(fixture.home, "wrong", { toml: WRONG_SOP, md: HOSTILE_STEPS });
    writeProcedure(fixture.home, IMAGE.replaceAll("/", "_"), { toml: WRONG_SOP });
    const files = { toml: HOSTILE_SOP, markdown: HOSTILE_STEPS };
    await call("PUT", `/api/sops/${NAME}`, { ...files, revision: null });
    await call("PATCH", `/api/sops/${NAME}`, { enabled: false });
    await call("PATCH", `/api/sops/${NAME}`, { enabled: true });
    const { run_id: run } = await call("POST", `/api/sops/${NAME}/test-runs`, { payload: { [TEXT]: [LINE, TEXT] } });
    await show(page, `runs/${run}`);
    await page.locator("[aria-current=step] .approval").waitFor();
    const found: string[] = [];
    for (const view of [`runs/${run}`, "approvals", "overview"]) found.push(...(await attackOn(page, view)));
    for (const step of ["step-1", "step-2"]) {
      await expect.poll(async () => (await call("GET", `/api/sop-runs/${run}`))["status"]).toBe("waiting_approval");
      await call("POST", `/api/approvals/${run}/${step}`, { approved: true, feedback: TEXT });
    }
    await expect.poll(async () => (await call("GET", `/api/sop-runs/${run}`))["status"]).toBe("failed");
    const more = [
      "procedures",
      `procedures/${NAME}`,
      `edit-procedure/${NAME}`,
      "procedures/wrong",
      "edit-procedure/wrong",
      `runs/${run}`,
      "calendar",
      "procedure-changes",
      `procedure-changes/${NAME}`,
      "approvals",
      "audit",
      "",
      "logs",
      "doctor",
    ];
    for (const view of more) found.push(...(await attackOn(page, view)));
    await show(page, `edit-procedure/${NAME}`);
    for (const name of ["Form", "Source"]) {
      const side = page.getByRole("button", { name, exact: true });
      if (await side.isVisible()) await side.click();
      found.push(...(await lookOver(page, `edit-procedure ${name}`)));
    }
    await call("DELETE", `/api/sops/${NAME}`);
    await show(page, `procedure-changes/${NAME}`);
    await page.locator("main details summary").first().click();
    await page
      .getByRole("button", { name: /^Undo change/ })
      .first()
      .click();
    await page.getByRole("dialog").getByText(WORD).first().waitFor();
    found.push(...(await lookOver(page, "the undo dialog")));
    for (const name of ["wrong", IMAGE.replaceAll("/", "_")]) removeProcedure(fixture.home, name);
    expect(found).toEqual([]);
    person.expectCalm();
  });

  test("foreign text stays text in messages, names, titles, outputs and events", async () => {
    const { browser, fixture } = scene();
    await using person = await signedIn(browser, fixture);
    const { page } = person;
    await fixture.rename(IMAGE);
    await person.go("events", "Live events");
    writeProcedure(fixture.home, "hostile", {
      toml: `[sop]
description = '${IMAGE} ${SCRIPT}'
version = "1.0"
execution_mode = "auto"

[[triggers]]
type = "manual"
`,
      md: `# ${SCRIPT}\n\n## Steps\n\n1. **${IMAGE}** — ${SCRIPT}\n`,
    });
    await fixture.write({ text: `${IMAGE} ${LINK}`, name: SCRIPT });
    await fixture.ask(IMAGE.replaceAll(" ", "_"), "1", `${IMAGE}`, `${SCRIPT} ${LINK}`);
    await fixture.daemon.request("/webhook", {
      token: fixture.token,
      headers: { "X-Session-Id": "hostile" },
      body: { message: `${IMAGE} ${LINK}` },
    });
    await fixture.daemon.request("/api/channel-events", {
      method: "POST",
      body: { type: SCRIPT, content: { title: IMAGE }, channels: [] },
    });
    await page.getByText(`${SCRIPT} · ${IMAGE}`).waitFor();

    const shows = (text: string): Promise<void> => page.getByText(text).first().waitFor();
    await person.go("approvals", "Approvals");
    await shows(SCRIPT);
    await person.go("inbox", "Inbox and dead letters");
    await shows(IMAGE);
    await page.getByRole("row").filter({ hasText: IMAGE }).getByRole("link").first().click();
    await page.getByRole("heading", { level: 1, name: /Message (in|out)-/ }).waitFor();
    // What was sent is drawn as Markdown, what came in stays as it is.
    await shows("vbscript:window.hacked=1");
    await person.go("", "Chats");
    // Its title and its preview are the sender's words, too.
    const titled = page.locator(".chat-title", { hasText: IMAGE });
    await page.getByRole("link").filter({ has: titled }).first().click();
    await page.getByRole("heading", { level: 1 }).filter({ hasText: IMAGE }).waitFor();
    await shows(LINK);
    await page.getByLabel("Search all messages").fill("onerror");
    await page.getByRole("list", { name: "Results" }).getByRole("link").first().waitFor();
    await person.go("devices", "Devices");
    await shows(IMAGE);
    await person.go("procedures/hostile", "hostile");
    await shows(SCRIPT);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: /of hostile/ }).waitFor();
    await shows(IMAGE);
    await person.go("audit", "Audit log");

    expect(await page.evaluate("window.hacked")).toBe(undefined);
    expect(await page.locator(MARKUP).count()).toBe(0);
    person.expectCalm();
  });

  test("a model's Markdown runs and loads nothing, and code is copied exactly", async () => {
    const { browser, fixture } = scene();
    // A colour that is on its way to another one is looked at as neither.
    await using person = await signedIn(browser, fixture, { reducedMotion: "reduce" });
    const { page } = person;
    await person.go("chat", "New chat");
    const box = page.getByRole("textbox", { name: "Message" });
    await box.fill("Show everything");
    await box.press("Enter");
    const answer = page
      .getByRole("list", { name: "Messages" })
      .getByRole("listitem")
      .filter({ hasText: "Release 1.4" });
    await answer.getByRole("heading", { name: "Release 1.4" }).waitFor();
    await answer.getByRole("table").waitFor();
    const link = answer.getByRole("link", { name: "the notes" });
    expect(await link.getAttribute("href")).toBe("https://notes.example/1.4");
    expect(await link.getAttribute("rel")).toContain("noreferrer");
    await answer.getByText("https://bank.example (evil.example)").waitFor();
    await answer.getByText("Picture: a cat (pictures.example)").waitFor();
    await answer.getByText("<script>window.hacked=1</script>").waitFor();
    await answer.locator(".hl-keyword").first().waitFor();
    await person.context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await answer.getByRole("button", { name: "Copy" }).first().click();
    await answer.getByRole("button", { name: "Copied" }).waitFor();
    expect(await page.evaluate<string>("navigator.clipboard.readText()")).toBe(
      "// Three times as fast.\nexport const search = (words: string): number => words.length * 3;",
    );
    expect(await page.evaluate("window.hacked")).toBe(undefined);
    expect(await page.locator(MARKUP).count()).toBe(0);
    for (const colors of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme: colors });
      expect(await seriousFindings(page, colors === "dark")).toEqual([]);
    }
    person.expectCalm();
  });

  test("an unknown address shows an empty state", async () => {
    const { browser, fixture } = scene();
    await using person = await signedIn(browser, fixture);
    const { page } = person;
    for (const view of [
      "nowhere",
      "sessions/..%2f..%2fstatus",
      "runs/%E0%A4%A",
      "inbox/%3Cimg%3E",
      "__proto__/x",
      "chat/x",
    ]) {
      await page.goto(`${fixture.url}/#/${view}`);
      expect(await page.getByRole("heading", { level: 1 }).count()).toBe(1);
    }
    person.expectCalm();
  });
}

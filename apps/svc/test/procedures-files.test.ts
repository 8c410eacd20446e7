// Procedures are files that people edit while the service runs: a slip must cost nobody the version that was right, nor be
// passed over in silence, and what is written must count without a restart.
import { appendFileSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "./channel-fixture.ts";
import { writeProcedure } from "./governed-fixture.ts";
import { manual, type ProceduresFixture, startProcedures, steps, toolsOf } from "./procedures-fixture.ts";

interface Listed {
  readonly sops: readonly { readonly name: string; readonly version: string; readonly problem: string | null }[];
  readonly broken: readonly { readonly name: string; readonly problem: string }[];
}

/** Each procedure and its version, with `!` where the files are wrong now, and `?` for those that never were right. */
async function listed(fixture: ProceduresFixture): Promise<string> {
  const { sops, broken } = (await fixture.api<Listed>("/api/sops")).body;
  const loaded = sops.map(({ name, version, problem }) => `${name} ${version}${problem === null ? "" : "!"}`);
  return [...loaded, ...broken.map(({ name }) => `${name} ?`)].join(", ");
}

async function becomes(fixture: ProceduresFixture, expected: string): Promise<void> {
  const seen = await eventually(
    () => listed(fixture),
    (text) => text === expected,
  );
  expect(seen).toBe(expected);
}

const SOP_TOOLS = ["sop_approve", "sop_list", "sop_run", "sop_status"];

/** What a turn that begins now is offered of the tools for procedures. */
async function offered(fixture: ProceduresFixture): Promise<readonly string[]> {
  await fixture.api("/webhook", { message: "hello" });
  return toolsOf(fixture.model.requests.at(-1)!)
    .filter((name) => name.startsWith("sop_"))
    .toSorted();
}

const version = (number: number, more = ""): string =>
  manual(
    `version = "${number}"\nexecution_mode = "auto"`,
    `\n[[triggers]]\ntype = "webhook"\npath = "/of/test"\n${more}`,
  );

test("files turn bad, are fixed, half written, moved away and put back, while the service runs", async () => {
  await using fixture = await startProcedures({ config: "[gateway]\nwebhook_rate_limit_per_minute = 0\n" });
  const folder = join(fixture.home, "workspace", "sops", "one");
  const toml = join(folder, "SOP.toml");
  const write = (text: string, md = steps("Say so.")): void => writeProcedure(fixture.home, "one", { toml: text, md });
  const trigger = async (): Promise<number> => (await fixture.api("/of/test", {})).status;

  // The first one ever: its path, and the tools of the agents. What is half written in the config is nobody's business yet.
  expect([await offered(fixture), await trigger()]).toEqual([[], 404]);
  const config = join(fixture.home, "config.toml");
  const inForce = readFileSync(config, "utf8");
  writeFileSync(config, `${inForce}\n[agent]\ninstructions = "Not yet."\n[gateway`);
  write(version(1));
  await becomes(fixture, "one 1");
  const tools = await eventually(
    () => offered(fixture),
    ({ length }) => length > 0,
  );
  expect([tools, await trigger()]).toEqual([SOP_TOOLS, 202]);
  writeFileSync(config, inForce);

  // Bad in itself, then by its other file, then cut off in the middle: the version before stays, and it is said everywhere.
  const bads = [
    { text: version(2, '\n[[triggers]]\ntype = "cron"\nexpression = "61 * * * *"\n'), md: steps("Say so.") },
    { text: version(3), md: "# Nothing to do\n" },
    { text: version(4).slice(0, -20), md: steps("Say so.") },
  ];
  for (const [index, { text, md }] of bads.entries()) {
    write(text, md);
    await becomes(fixture, "one 1!");
    const id = await fixture.run("one");
    expect(await fixture.becomes(id, "completed")).toMatchObject({ step: 1 });
    expect((await fixture.chat.svc("sop", "list")).stdout).toMatch(/^one .*the newest version is wrong/m);
    expect((await fixture.chat.svc("sop", "show", "one")).stdout).toMatch(/SOP\.(toml|md)/);
    const said = fixture.chat.daemon.output().match(/files are wrong now; the version before stays in force/g);
    expect(said).toHaveLength(index + 1);
    write(version(1));
    await becomes(fixture, "one 1");
  }
  appendFileSync(join(folder, "SOP.md"), "2. **Second** — Say more.\n");
  writeFileSync(toml, version(5));
  await becomes(fixture, "one 5");
  expect(await fixture.becomes(await fixture.run("one"), "completed")).toMatchObject({ step: 2 });

  // One that never was right is none, and takes nothing away from others.
  writeProcedure(fixture.home, "two", { toml: "[sop\n" });
  await becomes(fixture, "one 5, two ?");
  expect(await fixture.run("two").catch(String)).toContain("SOP_INVALID");

  const away = join(fixture.home, "one-away");
  renameSync(folder, away);
  await becomes(fixture, "two ?");
  expect([await trigger(), await fixture.run("one").catch(String)]).toEqual([
    404,
    expect.stringContaining("SOP_UNKNOWN"),
  ]);
  renameSync(away, folder);
  await becomes(fixture, "one 5, two ?");
  expect(await trigger()).toBe(202);

  // A restart has no last good version: what is wrong then is no procedure, and is said to be wrong.
  const good = readFileSync(toml);
  writeFileSync(toml, "[sop\n");
  await becomes(fixture, "one 5!, two ?");
  await fixture.killed();
  await fixture.begin();
  expect(await listed(fixture)).toBe("one ?, two ?");
  expect(await offered(fixture)).toEqual([]);
  writeFileSync(toml, good);
  await becomes(fixture, "one 5, two ?");
  expect(
    await eventually(
      () => offered(fixture),
      ({ length }) => length > 0,
    ),
  ).toEqual(SOP_TOOLS);

  // The last one takes the tools with it.
  rmSync(folder, { recursive: true });
  await becomes(fixture, "two ?");
  expect(
    await eventually(
      () => offered(fixture),
      ({ length }) => length === 0,
    ),
  ).toEqual([]);
});

// koffi looks for its addon in node_modules at run time: in a binary there is none, and a build for another machine has another.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";
import { readCatalogue, resolveProfile } from "../src/index.ts";
import { locateNatives, nativeAddons } from "../src/native.ts";
import { hostTarget, targetOf } from "../src/target.ts";
import { workspaceRoot } from "../src/workspace.ts";

const selection = resolveProfile(readCatalogue(), { profile: "minimal", with: ["sandbox-fsrestrict"] });
const feature = selection.features.find(({ manifest }) => manifest.id === "sandbox-fsrestrict")!;

describe.skipIf(process.platform !== "linux")("koffi", { meta: { skipReason: "is of Linux" } }, () => {
  test("is taken out of the binary, with no node_modules anywhere", async () => {
    const [addon, ...more] = await locateNatives(workspaceRoot, [feature], hostTarget());
    expect([addon!.name, addon!.asset, more]).toEqual(["koffi", "native/koffi.node", []]);
    const folder = mkdtempSync(join(tmpdir(), "svc-koffi-"));
    try {
      mkdirSync(join(folder, "out/native"), { recursive: true });
      copyFileSync(addon!.file, join(folder, "out/native/koffi.node"));
      const code =
        'import koffi from "koffi"; console.log(koffi.load(null).func("int abs(int value)")(-7), koffi.version);';
      await build({
        stdin: { contents: code, resolveDir: feature.dir },
        outfile: join(folder, "out/program.mjs"),
        bundle: true,
        platform: "node",
        format: "esm",
        plugins: [nativeAddons([addon!])],
        logLevel: "silent",
      });
      const printed = execFileSync(process.execPath, [join(folder, "out/program.mjs")], {
        cwd: folder,
        encoding: "utf8",
      });
      const { version } = createRequire(join(feature.dir, "package.json"))("koffi") as { version: string };
      expect(printed).toBe(`7 ${version}\n`);
      // And from nowhere else.
      rmSync(join(folder, "out/native/koffi.node"));
      expect(() => execFileSync(process.execPath, [join(folder, "out/program.mjs")], { stdio: "pipe" })).toThrow(
        "Command failed",
      );
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test("for another platform is fetched, by the name and version that koffi itself names", async () => {
    const asked: string[] = [];
    const folder = mkdtempSync(join(tmpdir(), "svc-koffi-"));
    const fetch = async (name: string, version: string): Promise<string> => {
      asked.push(`${name}@${version}`);
      return folder;
    };
    const { version } = createRequire(join(feature.dir, "package.json"))("koffi") as { version: string };
    try {
      for (const [target, platform] of [
        ["win-x64", "win32_x64"],
        ["darwin-arm64", "darwin_arm64"],
      ] as const) {
        mkdirSync(join(folder, platform));
        const locate = () => locateNatives(workspaceRoot, [feature], targetOf(target), fetch);
        await expect(locate()).rejects.toThrow(
          `sandbox-fsrestrict needs koffi: there is no .node file for ${platform.replace("_", "-")}`,
        );
        writeFileSync(join(folder, platform, "koffi.node"), "");
        expect(await locate()).toMatchObject([{ name: "koffi", file: join(folder, platform, "koffi.node") }]);
        expect(asked.splice(0)).toEqual(Array(2).fill(`@koromix/koffi-${platform.replace("_", "-")}@${version}`));
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

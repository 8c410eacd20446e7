// Homebrew and winget download what their texts name: an address or checksum of another build would install the wrong binary, or none.
import { expect, test } from "vitest";
import type { ReleaseManifest } from "@svc/kit/releases";
import { manPage } from "../src/man-page.ts";
import { homebrewFormula, wingetManifests } from "../src/package-manifests.ts";

const sum = (digit: string): string => digit.repeat(64);
const build = (profile: string, target: string, digit: string) => ({
  profile,
  target,
  file: `svc-1.2.3-${profile}-${target}.gz`,
  bytes: 1,
  sha256: sum(digit),
  binary: { bytes: 1, sha256: sum("f") },
});
const manifest: ReleaseManifest = {
  format: 1,
  version: "1.2.3",
  commit: "abc1234",
  schema_version: 1,
  builds: [
    build("minimal", "linux-x64", "1"),
    build("minimal", "darwin-arm64", "2"),
    build("full", "linux-arm64", "3"),
  ],
};

test("the formula has each system's build of its profile, and no other profile's", () => {
  const text = homebrewFormula(manifest, "minimal", "https://example.org/1.2.3")!;
  const blocks = [...text.matchAll(/on_(macos|linux) do\n\s+on_(arm|intel) do\n\s+url "([^"]+)"\n\s+sha256 "(\w+)"/g)];
  expect(blocks.map(([, ...parts]) => parts)).toEqual([
    ["macos", "arm", "https://example.org/1.2.3/svc-1.2.3-minimal-darwin-arm64.gz", sum("2")],
    ["linux", "intel", "https://example.org/1.2.3/svc-1.2.3-minimal-linux-x64.gz", sum("1")],
  ]);
  expect(text).not.toContain(sum("3"));
  expect(text.match(/\bdo$|^class|def install$/gm)).toHaveLength(text.match(/^\s*end$/gm)!.length);
  expect(homebrewFormula(manifest, "absent", "https://example.org")).toBeUndefined();
});

test("the three manifests of winget agree on id and version, and name the installer", () => {
  const texts = wingetManifests("1.2.3", "https://example.org/1.2.3", { file: "svc.exe", sha256: sum("a") });
  expect(Object.keys(texts)).toHaveLength(3);
  for (const text of Object.values(texts))
    expect(text).toMatch(/^PackageIdentifier: Svc\.Svc\nPackageVersion: 1\.2\.3\n/);
  // The names and bounds of version 1.6.0 of the format; winget refuses a manifest with another key.
  const keys = (text: string): string[] => [...text.matchAll(/^([A-Z]\w+):/gm)].map(([, key]) => key!);
  const common = ["PackageIdentifier", "PackageVersion", "ManifestType", "ManifestVersion"];
  const own: Record<string, string[]> = {
    "Svc.Svc.yaml": ["DefaultLocale"],
    "Svc.Svc.locale.en-US.yaml": ["PackageLocale", "Publisher", "PackageName", "License", "ShortDescription"],
    "Svc.Svc.installer.yaml": ["InstallerType", "Commands", "Installers"],
  };
  for (const [name, text] of Object.entries(texts)) {
    expect([name, keys(text).toSorted()]).toEqual([name, [...common, ...own[name]!].toSorted()]);
    expect(text).toMatch(/\nManifestVersion: 1\.6\.0\n$/);
    for (const [, value] of text.matchAll(/^(?!PackageVersion)\w+: (.+)$/gm)) {
      expect(value!.length).toBeGreaterThanOrEqual(3);
      expect(value).not.toMatch(/^["'&*!|>%@`{[]|: | #/);
    }
  }
  expect(texts["Svc.Svc.installer.yaml"]).toContain(
    "InstallerType: portable\nCommands:\n- svc\nInstallers:\n- Architecture: x64\n",
  );
  expect(texts["Svc.Svc.installer.yaml"]).toContain(
    `InstallerUrl: https://example.org/1.2.3/svc.exe\n  InstallerSha256: ${sum("A")}\n`,
  );
});

test("a summary that begins with a dot is no request of troff", () => {
  const page = manPage("svc/1\n\nUsage: svc\n\nData\n  backup  .hidden \\n-x\n\nMore\n  svc x", "1");
  expect(page).toContain(".SS Data\n.TP\n.B svc backup\n\\&.hidden \\en\\-x\n.SH ENVIRONMENT");
});

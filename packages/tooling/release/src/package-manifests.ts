/** What Homebrew and winget read: texts with addresses and checksums of a release's files. */
import type { ReleaseBuild, ReleaseManifest } from "@svc/kit/releases";

/** A formula of the profile; undefined when no build of it is for a system of Homebrew. */
export function homebrewFormula(
  { version, builds }: ReleaseManifest,
  profile: string,
  url: string,
): string | undefined {
  const on = (os: string, cpu: string): ReleaseBuild | undefined =>
    builds.find((build) => build.profile === profile && build.target === `${os}-${cpu}`);
  const systems = [
    { block: "on_macos", arm: on("darwin", "arm64"), intel: on("darwin", "x64") },
    { block: "on_linux", arm: on("linux", "arm64"), intel: on("linux", "x64") },
  ].filter(({ arm, intel }) => arm ?? intel);
  if (systems.length === 0) return undefined;
  const source = (block: string, build: ReleaseBuild | undefined): string[] =>
    build ? [`    ${block} do`, `      url "${url}/${build.file}"`, `      sha256 "${build.sha256}"`, "    end"] : [];
  return [
    "class Svc < Formula",
    '  desc "Self-hosted agent gateway"',
    `  homepage "${url}"`,
    `  version "${version}"`,
    '  license "MIT"',
    "",
    ...systems.flatMap(({ block, arm, intel }) => [
      `  ${block} do`,
      ...source("on_arm", arm),
      ...source("on_intel", intel),
      "  end",
      "",
    ]),
    "  def install",
    "    # Homebrew has unpacked the file; its name has version and platform.",
    '    libexec.install Dir["svc-*"].first => "svc"',
    '    chmod 0755, libexec/"svc"',
    '    (libexec/"svc.managed-by").write "brew upgrade svc\\n"',
    '    bin.install_symlink libexec/"svc"',
    '    generate_completions_from_executable(bin/"svc", "completions")',
    "  end",
    "",
    "  service do",
    '    run [opt_bin/"svc", "daemon"]',
    "    keep_alive successful_exit: false",
    "  end",
    "",
    "  test do",
    '    assert_match version.to_s, shell_output("#{bin}/svc --version")',
    "  end",
    "end",
    "",
  ].join("\n");
}

const WINGET_ID = "Svc.Svc";
const WINGET_SCHEMA = "1.6.0";

/** File name → text of the three manifests; `installer` is the uncompressed svc.exe of the release. */
export function wingetManifests(
  version: string,
  url: string,
  installer: { readonly file: string; readonly sha256: string },
): Readonly<Record<string, string>> {
  const head = [`PackageIdentifier: ${WINGET_ID}`, `PackageVersion: ${version}`];
  const tail = (type: string): string[] => [`ManifestType: ${type}`, `ManifestVersion: ${WINGET_SCHEMA}`, ""];
  const text = (type: string, lines: readonly string[]): string => [...head, ...lines, ...tail(type)].join("\n");
  return {
    [`${WINGET_ID}.yaml`]: text("version", ["DefaultLocale: en-US"]),
    [`${WINGET_ID}.locale.en-US.yaml`]: text("defaultLocale", [
      "PackageLocale: en-US",
      "Publisher: svc",
      "PackageName: svc",
      "License: MIT",
      "ShortDescription: Self-hosted agent gateway in one binary",
    ]),
    [`${WINGET_ID}.installer.yaml`]: text("installer", [
      "InstallerType: portable",
      "Commands:",
      "- svc",
      "Installers:",
      "- Architecture: x64",
      `  InstallerUrl: ${url}/${installer.file}`,
      `  InstallerSha256: ${installer.sha256.toUpperCase()}`,
    ]),
  };
}

// Wrong flags once meant a build of the wrong profile: whatever is not understood must be said, all at once, before
// anything is downloaded.
import { describe, expect, test } from "vitest";
import { featureNames } from "../features.mjs";
import { parseSetup, setupHelp } from "../setup-arguments.mjs";
import { profileFeatures } from "../features.mjs";
import { installPath, planSetup, planText } from "../setup-plan.mjs";

const features = ["channel-federated", "channel-workchat", "hardware"];
const problems = (...args: string[]): string[] => parseSetup(args, features).problems;
const request = (...args: string[]) => {
  const parsed = parseSetup(args, features);
  expect(parsed.problems).toEqual([]);
  return parsed.request;
};

describe("arguments", () => {
  test("nothing given means the minimal profile", () => {
    expect(request()).toEqual({ profile: "minimal", with: [], without: [], dryRun: false, json: false, help: false });
  });

  test.each(["minimal", "home", "standard", "full"])("--%s", (profile) => {
    expect(request(`--${profile}`).profile).toBe(profile);
  });

  test("lists come by comma, by space and by repetition, beside the flag or after an equals sign", () => {
    expect(request("--with", "hardware,channel-workchat").with).toEqual(["hardware", "channel-workchat"]);
    expect(request("--with=hardware", "--with", "channel-workchat").with).toEqual(["hardware", "channel-workchat"]);
    expect(request("--without", "hardware channel-workchat").without).toEqual(["hardware", "channel-workchat"]);
  });

  test("a mistyped flag, a mistyped feature and a missing value are all said at once, with what was meant", () => {
    expect(problems("--ful", "--with", "hardwre", "--prefix")).toEqual([
      'Unknown argument "--ful". Did you mean --full?',
      "--prefix needs a directory.",
      'Unknown feature "hardwre". Did you mean hardware?',
    ]);
  });

  test("a flag is never swallowed as the value of the one before", () => {
    expect(problems("--prefix", "--full")).toEqual(["--prefix needs a directory."]);
    expect(problems("--with", "--dry-run")).toEqual(["--with needs feature names, separated by commas."]);
  });

  test("two profiles, one feature in both lists, and --json alone contradict themselves", () => {
    expect(problems("--full", "--minimal")).toEqual(["Choose one profile, not --full and --minimal."]);
    expect(problems("--with", "hardware", "--without", "hardware")).toEqual([
      '"hardware" is in both --with and --without.',
    ]);
    expect(problems("--json")).toEqual(["--json prints the plan of --dry-run; give both."]);
    expect(problems("--full=yes")).toEqual(["--full takes no value."]);
  });

  test("a folder or a scoped package is left for the composer to judge", () => {
    expect(request("--with", "./mine,@acme/svc-mine").with).toEqual(["./mine", "@acme/svc-mine"]);
  });

  test("the help names every flag there is", () => {
    for (const flag of [
      "--minimal",
      "--home",
      "--standard",
      "--full",
      "--with",
      "--without",
      "--prefix",
      "--dry-run",
      "--json",
    ]) {
      expect(setupHelp).toContain(flag);
    }
  });
});

describe("plan", () => {
  test("builds what was asked, and says what is written outside the checkout", () => {
    const plan = planSetup(request("--standard", "--prefix", "/opt/svc"));
    expect(plan.binary).toMatch(/^dist\/standard\/svc(\.exe)?$/u);
    expect(plan.steps.map((step) => step.name)).toEqual(["packages", "build", "install"]);
    expect(planText(plan)).toContain(`Outside of this checkout: ${installPath("/opt/svc")}`);
  });

  test("anything added or taken away is a custom build", () => {
    const plan = planSetup(request("--full", "--without", "hardware"));
    const { adds, planned } = profileFeatures("full");
    expect(plan.missing).toEqual(planned);
    for (const name of [...adds, ...planned]) expect(setupHelp).toContain(name);
    for (const name of planned) expect(planText(plan)).toContain(`Not in it, because it is not written yet: ${name}`);
    expect(plan.binary).toMatch(/^dist\/custom\//u);
    expect(planText(plan)).toContain("pnpm build full --without hardware");
    expect(planText(plan)).toContain("nothing but the package managers' caches");
  });

  test("a relative prefix starts from where the person stands, not from the checkout", () => {
    expect(planSetup(request("--prefix", "out"), { cwd: "/home/me" }).installsTo).toBe(installPath("/home/me/out"));
  });
});

test("the features of this repository are known without an install", () => {
  expect(featureNames()).toEqual(expect.arrayContaining(["tool-files", "tool-shell"]));
});

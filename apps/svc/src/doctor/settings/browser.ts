/** Whether the browser that the config asks for is in this build. */
import { absentBrowser } from "@svc/kernel";
import { type Finding, ok, warning } from "../finding.ts";
import type { Settings } from "./settings.ts";

export function browserFindings({ config, features, catalogue }: Settings): Finding[] {
  const id = "browser";
  const { browser } = config.core;
  if (!browser.enabled) return [];
  const absent = absentBrowser(browser, features, catalogue);
  if (absent === undefined) return [ok(id, `The browser backend ${browser.backend} is in this build.`)];
  const message = `The browser backend ${browser.backend} is not in this build: the tool browser is unavailable.`;
  return [warning(id, message, absent.build)];
}

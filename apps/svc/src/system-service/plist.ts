/** The launchd property list, for macOS. */
import { sealed } from "./marker.ts";
import { assertPlain, type ServicePlan } from "./plan.ts";

export const LABEL = "svc.daemon";

/** Throws USAGE for a path that no property list can hold. */
export function plistText({ binary, home, stopSecs }: ServicePlan): string {
  assertPlain("the binary", binary);
  assertPlain("the home", home);
  const body = `<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${LABEL}</string>
  <key>ProgramArguments</key>
  <array>
    <string>${xml(binary)}</string>
    <string>daemon</string>
  </array>
  <key>EnvironmentVariables</key>
  <dict>
    <key>SVC_HOME</key>
    <string>${xml(home)}</string>
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>10</integer>
  <key>ExitTimeOut</key>
  <integer>${stopSecs}</integer>
  <key>Umask</key>
  <integer>63</integer>
  <key>SoftResourceLimits</key>
  <dict>
    <key>Core</key>
    <integer>0</integer>
    <key>NumberOfFiles</key>
    <integer>65536</integer>
  </dict>
  <key>HardResourceLimits</key>
  <dict>
    <key>Core</key>
    <integer>0</integer>
  </dict>
</dict>
</plist>
`;
  return sealed("<!--", "-->", body, HEAD);
}

const HEAD = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
`;

const xml = (text: string): string =>
  text.replace(/[&<>]/g, (character) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[character]!);

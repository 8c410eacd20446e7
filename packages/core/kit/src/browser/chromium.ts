/** What drivers of a Chromium have in common. */
import { mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** A profile that tells no one anything, guesses nothing and keeps nothing. `profile`: a folder that is not there yet. */
export async function makeProfile(profile: string): Promise<void> {
  const folder = join(profile, "Default");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(join(folder, "Preferences"), JSON.stringify(PREFERENCES));
}

/** What no switch sets: chrome/common/pref_names.h of Chromium. */
const PREFERENCES = {
  alternate_error_pages: { enabled: false },
  autofill: { enabled: false, profile_enabled: false, credit_card_enabled: false },
  credentials_enable_service: false,
  dns_prefetching: { enabled: false },
  // 2: never prefetch a predicted page.
  net: { network_prediction_options: 2 },
  // A PDF is a download, in every mode alike.
  plugins: { always_open_pdf_externally: true },
  profile: { password_manager_enabled: false },
  safebrowsing: { enabled: false },
  search: { suggest_enabled: false },
  signin: { allowed: false, allowed_on_next_startup: false },
  translate: { enabled: false },
  webrtc: { ip_handling_policy: "disable_non_proxied_udp" },
};

/** Bytes of the files in a folder, those that are still being written included. 0: it is missing. */
export async function sizeOf(folder: string): Promise<number> {
  const names = await readdir(folder).catch(() => []);
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

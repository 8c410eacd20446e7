/** After an upgrade of the service an open page is the old one, and may misunderstand the new one. */
import { send } from "../api/client.ts";
import { Cell } from "../state/cell.ts";
import type { Live } from "./live.ts";

/** @param script Address of the script that runs: its name changes with its content. */
export function watchForNewerPage(live: Live, script: string): Cell<boolean> {
  const isThere = new Cell(false);
  const { pathname } = new URL(script);
  let wasLost = false;
  live.state.follow(() => {
    if (live.state.value === "again") wasLost = true;
    if (live.state.value !== "open" || !wasLost) return;
    wasLost = false;
    void look(pathname).then((isNewer) => isThere.set(isNewer));
  });
  return isThere;
}

async function look(pathname: string): Promise<boolean> {
  const response = await send("/", {}, {}).catch(() => undefined);
  return response?.ok === true && !(await response.text()).includes(pathname);
}

import { useEffect, useState } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { Name } from "../parts/name.tsx";
import { Problem } from "../parts/problem.tsx";
import { ThemeSwitch } from "../parts/theme-switch.tsx";
import { hrefOf } from "../route/route.ts";
import { useServices } from "../services.ts";
import { useDevice, useMayOperate } from "../session/use-device.ts";
import { useAction } from "../state/use-action.ts";
import { type Place, PLACES } from "./places.tsx";
import { useRunningFeatures } from "./use-running-features.ts";
import { WaitingCount } from "./waiting-count.tsx";

/** On a phone it opens by a button, and closes when one has gone somewhere. */
export function Navigation({ at }: { readonly at: string }) {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => setOpen(false), [at]);
  const close = (event: KeyboardEvent): void => {
    if (event.key === "Escape") setOpen(false);
  };
  return (
    <header class={isOpen ? "top open" : "top"} onKeyDown={close}>
      <a class="brand" href={hrefOf("")}>
        svc
      </a>
      <button
        type="button"
        class="button menu"
        aria-expanded={isOpen}
        aria-controls="places"
        onClick={() => setOpen(!isOpen)}
      >
        Menu
      </button>
      <div class="places" id="places">
        <nav aria-label="Views">
          <Places at={at} />
        </nav>
        <Foot />
      </div>
    </header>
  );
}

function Places({ at }: { readonly at: string }) {
  const mayOperate = useMayOperate();
  const features = useRunningFeatures();
  const isOffered = ({ label, forOperators = false, feature }: Place): boolean =>
    label !== undefined && (mayOperate || !forOperators) && (feature === undefined || features.has(feature));
  const current = PLACES.find(({ view }) => view === at)?.below ?? at;
  return (
    <ul>
      {PLACES.filter(isOffered).map(({ view, label }) => (
        <li key={view}>
          <a href={hrefOf(view)} aria-current={view === current ? "page" : undefined}>
            {label} {view === "approvals" && <WaitingCount />}
          </a>
        </li>
      ))}
    </ul>
  );
}

function Foot() {
  const { session } = useServices();
  const device = useDevice();
  const signOut = useAction(() => session.signOut());
  return (
    <div class="foot">
      <ThemeSwitch />
      <p class="hint">
        <Name>{device?.name ?? ""}</Name>, {device?.scope}
      </p>
      <Problem error={signOut.error} />
      <Button busy={signOut.isRunning} onPress={() => void signOut.run()}>
        Sign out
      </Button>
    </div>
  );
}

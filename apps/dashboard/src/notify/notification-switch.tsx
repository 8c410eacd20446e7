import { Button } from "../parts/button.tsx";
import { Problem } from "../parts/problem.tsx";
import { useServices } from "../services.ts";
import { useCell } from "../state/cell.ts";
import { useAction } from "../state/use-action.ts";
import { t } from "../texts/texts.ts";

export function NotificationSwitch() {
  const { notifier } = useServices();
  const state = useCell(notifier.state);
  const turn = useAction(() => (state === "on" ? notifier.turnOff() : notifier.turnOn()));
  if (state === "unsupported") return null;
  if (state === "blocked") {
    return <p class="hint">{t("notify.this-browser-blocks-notifications-of")}</p>;
  }
  return (
    <div class="buttons">
      <Button busy={turn.isRunning} onPress={() => void turn.run()}>
        {state === "on" ? t("notify.turn-notifications-off") : t("notify.notify-me-in-this-browser")}
      </Button>
      <Problem error={turn.error} />
    </div>
  );
}

import { Button } from "../parts/button.tsx";
import { useServices } from "../services.ts";
import { useCell } from "../state/cell.ts";
import { t } from "../texts/texts.ts";

/** Warns while the shown data, or the page itself, may be outdated. */
export function Connection() {
  const { live, hasNewerPage } = useServices();
  const state = useCell(live.state);
  const isOld = useCell(hasNewerPage);
  return (
    <div class="connection" role="status">
      {state === "again" && (
        <p>
          {t("shell.connection-lost-connecting-again-this")}{" "}
          <Button onPress={() => live.reconnect()}>{t("shell.connect-now")}</Button>
        </p>
      )}
      {state !== "again" && isOld && (
        <p>
          {t("shell.the-service-was-upgraded-this")}{" "}
          <Button onPress={() => location.reload()}>{t("shell.reload")}</Button>
        </p>
      )}
    </div>
  );
}

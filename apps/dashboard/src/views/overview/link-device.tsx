/** Links a platform account: the phone scans a QR code or gets a code to type. */
import type { FeatureReport } from "@svc/api";
import { useRef, useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { QrCode } from "../../components/qr-code.tsx";
import { Name, ServiceText } from "../../components/text.tsx";
import { useMayOperate, useServices } from "../../services.ts";
import { useAction } from "../../state/use-action.ts";
import { useList } from "../../state/use-reader.ts";
import { useTick } from "../../state/use-window.ts";
import { rich, t } from "../../texts/texts.ts";

/** Feature and channel with such a device. */
const FEATURE = "provider-a-web";
const CHANNEL = "provider_a";
const PATH = "/api/provider-a-web/link";
const STATE_POLL_MS = 1_000;

type State =
  | { readonly stage: "waiting" }
  | { readonly stage: "scan"; readonly qr: readonly string[]; readonly how: string }
  | { readonly stage: "code"; readonly code: string; readonly how: string }
  | { readonly stage: "done"; readonly account: string }
  | { readonly stage: "ended"; readonly reason: string };

/** A button for this channel while no account is linked, for operators. */
export function LinkDevice({ channel }: { readonly channel: string }) {
  const mayOperate = useMayOperate();
  return channel === CHANNEL && mayOperate ? <LinkButton /> : null;
}

const IN_SERVICE: ReadonlySet<string> = new Set(["running", "waiting"]);

function LinkButton() {
  const { data } = useList<FeatureReport>("/api/features", []);
  // Cloud mode of the same channel has no account to link.
  const isHere = data?.features.some(({ id, state }) => id === FEATURE && IN_SERVICE.has(state)) === true;
  return isHere ? <LinkIfUnlinked /> : null;
}

function LinkIfUnlinked() {
  const { data, refresh } = useList<State>(PATH, []);
  const [isOpen, setOpen] = useState(false);
  if (!isOpen && (data === undefined || data.stage === "done")) return null;
  return (
    <>
      <Button kind="main" onPress={() => setOpen(true)}>
        {t("link.link-the-account")}
      </Button>
      {isOpen && (
        <LinkDialog
          onClose={() => {
            setOpen(false);
            void refresh();
          }}
        />
      )}
    </>
  );
}

function LinkDialog({ onClose }: { readonly onClose: () => void }) {
  const { api } = useServices();
  const [state, setState] = useState<State>();
  const take = useAction(async (step: "begin" | "state") =>
    setState(await api.call<State>(PATH, { method: "POST", body: { step } })),
  );
  const stage = state?.stage;
  const isOver = stage === "done" || stage === "ended";
  // The timer keeps its first callback, so read the current one through a ref.
  const tick = useRef(() => {});
  tick.current = () => {
    if (state !== undefined && !isOver && !take.isRunning) void take.run("state");
  };
  useTick(STATE_POLL_MS, () => tick.current());
  const [action, act] =
    stage === "done"
      ? [t("common.done"), onClose]
      : [t(stage === "ended" ? "common.try-again" : "link.show-a-code"), () => void take.run("begin")];
  return (
    <Dialog
      title={t("link.link-an-account")}
      action={action}
      kind="main"
      dismiss={t(isOver ? "common.close" : "common.not-now")}
      busy={stage === "waiting" || stage === "scan" || stage === "code"}
      error={take.error}
      onConfirm={act}
      onClose={onClose}
    >
      <div role="status">
        <Step state={state} />
      </div>
    </Dialog>
  );
}

function Step({ state }: { readonly state: State | undefined }) {
  switch (state?.stage) {
    case undefined:
      return <p>{t("link.what-happens")}</p>;
    case "waiting":
      return <p>{t("link.connecting")}</p>;
    case "scan":
      return (
        <div class="pairing">
          <p>
            <ServiceText>{state.how}</ServiceText>
          </p>
          <QrCode
            modules={state.qr.map((row) => Array.from(row, (module) => module === "1"))}
            label={t("link.qr-code")}
          />
        </div>
      );
    case "code":
      return (
        <p>
          <ServiceText>{state.how}</ServiceText> <code class="command">{state.code}</code>
        </p>
      );
    case "done":
      return <p>{rich("link.linked", { account: <Name>{state.account}</Name> })}</p>;
    case "ended":
      return <p>{rich("link.not-linked", { reason: <ServiceText>{state.reason}</ServiceText> })}</p>;
  }
}

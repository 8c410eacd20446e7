/** Findings of `svc doctor`, errors first, each with its fix. */
import type { DoctorReport, Finding } from "@svc/api";
import { useEffect, useState } from "preact/hooks";
import { Button, CopyButton } from "../../components/button.tsx";
import { Heading, Section } from "../../components/layout.tsx";
import { Problem } from "../../components/shown.tsx";
import { ServiceText } from "../../components/text.tsx";
import { Badge } from "../../components/values.tsx";
import { useServices } from "../../services.ts";
import { hrefOf } from "../../state/route.ts";
import { useAction } from "../../state/use-action.ts";
import { type PlainKey, t } from "../../texts/texts.ts";

const TITLES = { error: "doctor.errors", warning: "doctor.warnings", note: "doctor.open-perhaps-on-purpose" } as const;

export function Doctor() {
  const { api } = useServices();
  const [security, setSecurity] = useState(false);
  const [report, setReport] = useState<DoctorReport>();
  const check = useAction(async (withSecurity: boolean) => {
    setReport(await api.call<DoctorReport>("/api/doctor", { method: "POST", body: { security: withSecurity } }));
  });
  useEffect(() => void check.run(security), [security]);
  const fine = report?.findings.filter(({ level }) => level === "ok") ?? [];
  return (
    <>
      <Heading title={t("doctor.checks")}>
        <Button busy={check.isRunning} onPress={() => void check.run(security)}>
          {t("doctor.check-again")}
        </Button>
      </Heading>
      <p class="filters">
        <label class="check-switch">
          <input
            type="checkbox"
            checked={security}
            onChange={({ currentTarget }) => setSecurity(currentTarget.checked)}
          />
          {t("doctor.security-too-who-can-reach")}
        </label>
      </p>
      <Problem error={check.error} />
      {check.isRunning && (
        <p class="reading" role="status">
          {t("doctor.checking-this-takes-up-to")}
        </p>
      )}
      {report !== undefined && (
        <>
          {(["error", "warning", "note"] as const).map((level) => (
            <Findings
              key={level}
              title={t(TITLES[level])}
              findings={report.findings.filter((one) => one.level === level)}
            />
          ))}
          {report.findings.every(({ level }) => level === "ok") && (
            <p class="notice good" role="status">
              {t("doctor.nothing-is-wrong")}
            </p>
          )}
          <Section title={t("doctor.in-order", { n: fine.length })}>
            <details>
              <summary>{t("doctor.n-checks", { n: fine.length })}</summary>
              <ul class="bare">
                {fine.map(({ id, message }, index) => (
                  <li key={index}>
                    <Badge state="ok" /> <code>{id}</code> <ServiceText>{message}</ServiceText>
                  </li>
                ))}
              </ul>
            </details>
          </Section>
        </>
      )}
    </>
  );
}

function Findings({ title, findings }: { readonly title: string; readonly findings: readonly Finding[] }) {
  if (findings.length === 0) return null;
  return (
    <Section title={title}>
      <ul class="cards">
        {findings.map((finding, index) => (
          <Card key={`${finding.id} ${index}`} finding={finding} />
        ))}
      </ul>
    </Section>
  );
}

function Card({ finding: { id, level, message, fix } }: { readonly finding: Finding }) {
  const link = fixLinkFor(id, fix ?? "");
  const command = commandIn(fix ?? "");
  return (
    <li class={`card finding ${level}`}>
      <p>
        <Badge state={level} /> <code>{id}</code>
      </p>
      <p class="finding-text">
        <ServiceText>{message}</ServiceText>
      </p>
      {fix !== null && (
        <p>
          <strong>{t("common.fix")}</strong> <ServiceText>{fix}</ServiceText>
        </p>
      )}
      <div class="buttons">
        {link !== undefined && (
          <a class="button" href={link.href}>
            {t(link.label)}
          </a>
        )}
        {command !== undefined && <CopyButton text={command}>{t("doctor.copy-the-command")}</CopyButton>}
      </div>
    </li>
  );
}

/** A link to the view that applies a fix. */
interface FixLink {
  readonly href: string;
  readonly label: PlainKey;
}

const setting = (section: string): FixLink => ({
  href: hrefOf("settings", section),
  label: "doctor.open-the-setting",
});

/** By the finding's id, for fixes that name no key. */
const FIX_LINKS: Readonly<Record<string, FixLink>> = {
  sandbox: setting("security.sandbox"),
  "idle-tokens": { href: hrefOf("devices"), label: "common.devices" },
  devices: { href: hrefOf("devices"), label: "common.devices" },
  "page-sessions": { href: hrefOf("devices"), label: "common.devices" },
  "pairing-codes": { href: hrefOf("devices"), label: "common.devices" },
  procedures: { href: hrefOf("procedures"), label: "common.procedures" },
  config: { href: hrefOf("settings"), label: "common.all-settings" },
};

/** Sections with a form, as a fix names them: `gateway.host`, `[channels_config.email]`. */
const KEY =
  /(?<![\w./-])(channels_config\.\w+|security\.(?:policy|sandbox|net|webauthn)|gateway|model|agents?|prices|tools|approvals|sop|workspace|retention|delivery|daemon|observability|log|secrets|transcription|tts|browser|plugins)(?=[.\]])/;

/** Undefined: the page can't change it. */
export function fixLinkFor(id: string, fix: string): FixLink | undefined {
  const section = KEY.exec(fix)?.[1];
  if (section === undefined) return FIX_LINKS[id];
  const channel = /^channels_config\.(\w+)$/.exec(section)?.[1];
  if (channel !== undefined) return { href: hrefOf("channels", channel), label: "doctor.open-the-channel" };
  return section === "model" ? { href: hrefOf("model"), label: "doctor.open-the-model" } : setting(section);
}

/** The command in a fix, up to the end of its clause. */
export function commandIn(fix: string): string | undefined {
  const command = /\bsvc [a-z][^;,\n]*/.exec(fix)?.[0].trim();
  return command === undefined || command.includes("…") ? undefined : command.replace(/\.$/, "");
}

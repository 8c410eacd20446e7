/** Keys of the config in German: what each is called, its help by the English sentence of the schema, and features by their summary. */
import type { SettingTexts } from "../setting-texts.ts";

export const de: SettingTexts = {
  labels: {
    max_agents: "Höchstzahl der Unteragenten",
    max_cost_usd: "Höchste Kosten (USD)",
    max_tokens: "Höchstzahl der Tokens",
    max_actions: "Höchstzahl der Aufrufe",
    max_depth: "Größte Tiefe",
    max_processes: "Höchstzahl der Prozesse",
    max_run_secs: "Längste Aufgabe (Sekunden)",
    programs: "Programme",
    zombie_after_secs: "Längste Zeit ohne Ereignis (Sekunden)",
    angle: "Winkel",
    approach_speed_limit: "Höchsttempo bei Annäherung",
    blind_mode_speed_limit: "Höchsttempo ohne Sensoren",
    bump_pins: "Pins der Stoßschalter",
    device: "Gerät",
    drive: "Antrieb",
    energy_threshold: "Mindestlautstärke",
    estop_pin: "Pin des Not-Halts",
    group_policy: "Nachrichten in Gruppen",
    kind: "Art",
    left: "Links",
    max_capture_secs: "Längster Befehl (Sekunden)",
    max_drive_duration: "Längste Fahrt (Sekunden)",
    max_speed: "Höchsttempo",
    max_transcriptions_per_hour: "Transkriptionen pro Stunde",
    min_obstacle_distance: "Mindestabstand zu Hindernissen",
    play: "Über Lautsprecher sprechen",
    price_per_minute: "Preis pro Minute",
    recorder: "Aufnahmeprogramm",
    right: "Rechts",
    seed: "Startwert des Zufalls",
    sensor_timeout_secs: "Höchstalter der Messwerte (Sekunden)",
    sensors: "Sensoren",
    silence_timeout_ms: "Pause am Satzende (ms)",
    slow_zone_multiplier: "Faktor der Langsamzone",
    wake_word: "Aktivierungswort",
    web_root_key: "Wurzelschlüssel des Testservers",
    web_version: "Version von WhatsApp Web",
    reply: "Gesprochene Antworten",
    reply_in: "Je Kanal",
    private_key: "Privater Schlüssel",
    relays: "Relays",
    allowed_pubkeys: "Erlaubte öffentliche Schlüssel",
    openocd_script: "OpenOCD-Skript",
    above: "Ab diesem Messwert HIGH",
    hysteresis: "Hysterese",
    aardvark_library: "Aardvark-Bibliothek",
    access_token: "Zugriffstoken",
    account_sid: "Account SID",
    ack_reaction: "Reaktion als Bestätigung",
    address: "Adresse",
    agent: "Agent",
    agent_browser_path: "Pfad zu agent-browser",
    agents: "Agenten",
    allow_private: "Erlaubte private Adressen",
    allow_public_bind: "Öffentliche Adresse erlauben",
    allowed_commands: "Erlaubte Befehle",
    allowed_domains: "Erlaubte Domains",
    allowed_guilds: "Erlaubte Server",
    allowed_hosts: "Erlaubte Hostnamen",
    allowed_numbers: "Erlaubte Nummern",
    allowed_rooms: "Erlaubte Räume",
    allowed_senders: "Erlaubte Absender",
    allowed_targets: "Erlaubte Ziele",
    allowed_users: "Erlaubte Nutzer",
    always: "Immer erlaubt",
    api_key: "API-Schlüssel",
    api_token: "API-Token",
    api_url: "API-URL",
    app_id: "App-ID",
    app_secret: "App-Geheimnis",
    app_token: "App-Token",
    approvals: "Freigaben",
    approvers: "Wer freigeben darf",
    auth_token: "Auth-Token",
    authorization: "Authorization-Header",
    authserv_id: "Authserv-ID",
    autonomy: "Selbstständigkeit",
    backend: "Backend",
    base_url: "Basis-URL",
    baud: "Baudrate",
    board: "Board",
    boards: "Boards",
    bot_name: "Name des Bots",
    bot_token: "Bot-Token",
    browser: "Browser",
    callback_token: "Callback-Token",
    choices: "Auswahl an Modellen",
    chromium_path: "Pfad zu Chromium",
    client_id: "Client-ID",
    client_secret: "Client-Geheimnis",
    code_notice: "Ersatz für Code",
    command: "Befehl",
    computer_use_api_key: "API-Schlüssel für computer_use",
    computer_use_endpoint: "Endpunkt für computer_use",
    computer_use_windows: "Fenster für computer_use",
    container_image: "Container-Image",
    cpu_secs: "Prozessorzeit in Sekunden",
    daemon: "Dienst",
    debounce_ms: "Entprellzeit in ms",
    default_execution_mode: "Standardmodus",
    delivery: "Zustellung",
    detect_voicemail: "Mailbox erkennen",
    device_id: "Geräte-ID",
    disabled: "Ausgeschaltet",
    display_name: "Anzeigename",
    draft_update_interval_ms: "Abstand der Bearbeitungen in ms",
    drain_secs: "Zeit zum Beenden in Sekunden",
    edge: "Flanke",
    enabled: "Eingeschaltet",
    encrypt: "Verschlüsseln",
    encrypt_key: "Encrypt Key",
    expire_secs: "Gültigkeit in Sekunden",
    file: "Protokolldatei",
    filler: "Füllsatz",
    filler_after_secs: "Füllsatz nach Sekunden",
    firmware_dir: "Firmware-Ordner",
    folder: "Ordner",
    forbidden_paths: "Verbotene Pfade",
    from_number: "Absendernummer",
    from_phone: "Eigene Nummer",
    gateway: "Netzwerk",
    gdb_server: "GDB-Server",
    goodbye: "Abschied",
    greeting: "Begrüßung",
    hardware: "Hardware",
    history_max_tokens: "Tokens aus dem Verlauf",
    homeserver: "Homeserver",
    host: "Adresse",
    i2c_buses: "I2C-Busse",
    idempotency_max_keys: "Höchstzahl an Idempotenzschlüsseln",
    idempotency_ttl_secs: "Gültigkeit der Idempotenzschlüssel in Sekunden",
    idle_secs: "Leerlauf in Sekunden",
    imap_host: "IMAP-Server",
    imap_port: "IMAP-Port",
    imap_security: "IMAP-Verschlüsselung",
    input: "Eingang",
    input_per_million: "Preis je Million Eingabetokens",
    instructions: "Anweisungen",
    invite: "Einladungen",
    jwks_url: "JWKS-URL",
    keys_notice: "Hinweis auf Tasten",
    label_filter: "Labels",
    language: "Sprache",
    level: "Stufe",
    log: "Protokoll",
    mailbox: "Postfach",
    mark_seen: "Als gelesen markieren",
    max_actions_per_hour: "Aktionen pro Stunde",
    max_answers_per_hour: "Antworten pro Stunde",
    max_attachment_mb: "Größter Anhang in MiB",
    max_attempts: "Höchstzahl an Versuchen",
    max_body_bytes: "Größte Anfrage in Bytes",
    max_bytes: "Größte Datei in Bytes",
    max_call_secs: "Längster Anruf in Sekunden",
    max_chars: "Höchstzahl an Zeichen",
    max_concurrent_total: "Gleichzeitige Läufe",
    max_cost_per_day: "Höchste Kosten pro Tag",
    max_file_mb: "Größte Protokolldatei in MB",
    max_files: "Höchstzahl an Dateien",
    max_output_tokens: "Höchstzahl an Ausgabetokens",
    max_parallel_turns: "Gleichzeitige Anfragen",
    max_retries: "Höchstzahl an Wiederholungen",
    max_sessions: "Höchstzahl an Unterhaltungen",
    max_steps: "Höchstzahl an Schritten",
    memory_mb: "Arbeitsspeicher in MB",
    mention_only: "Nur bei Erwähnung",
    message_days: "Nachrichten aufbewahren, in Tagen",
    method: "Methode",
    mode: "Modus",
    model: "Modell",
    mqtt: "MQTT",
    name: "Name",
    native_headless: "Ohne Fenster",
    net: "Private Adressen",
    network: "Netzwerkzugriff",
    notification_target: "Ziel für Benachrichtigungen",
    oauth_token: "OAuth-Token",
    observability: "Beobachtbarkeit",
    otel_endpoint: "OTLP-Endpunkt",
    otel_headers: "OTLP-Header",
    otel_protocol: "OTLP-Protokoll",
    otel_record_content: "Inhalte aufzeichnen",
    otel_sampling: "Anteil der Traces",
    otel_service_name: "Name des Dienstes",
    output_per_million: "Preis je Million Ausgabetokens",
    page_session_days: "Anmeldung der Seite, in Tagen",
    pair_phone: "Nummer zum Koppeln",
    password: "Passwort",
    path: "Pfad",
    peripherals: "Boards",
    phone_number_id: "ID der Telefonnummer",
    pids: "Prozesse",
    pin: "Pin",
    plugins: "Plugins",
    plugins_dir: "Plugin-Ordner",
    policy: "Richtlinie",
    poll_interval_secs: "Abrufabstand in Sekunden",
    port: "Port",
    price: "Preis",
    prices: "Preise",
    processed_mailbox: "Postfach für Erledigtes",
    provider: "Anbieter",
    public_url: "Öffentliche URL",
    pubsub_url: "Pub/Sub-URL",
    pull: "Widerstand",
    push_audience: "Audience der Pushes",
    push_service_account: "Dienstkonto der Pushes",
    rate_limit_max_keys: "Höchstzahl gezählter Clients",
    readable: "Lesbare Pfade",
    receive_mode: "Empfangsart",
    recognizer: "Spracherkennung",
    recovery_key: "Wiederherstellungsschlüssel",
    refresh_token: "Refresh-Token",
    reprompt: "Nachfrage",
    require_authenticated: "Authentifizierte Absender verlangen",
    require_pairing: "Kopplung verlangen",
    require_signatures: "Signaturen verlangen",
    required: "Zwingend",
    retention: "Aufbewahrung",
    ring_secs: "Klingelzeit in Sekunden",
    room_id: "Raum-ID",
    rp_id: "Domain der Passkeys",
    rp_name: "Angezeigter Name",
    rp_origin: "Adresse der Seite",
    sandbox: "Sandbox",
    save_sent: "Gesendetes aufbewahren",
    secret: "Geheimnis",
    secrets: "Geheimnisse",
    security: "Sicherheit",
    session_days: "Unterhaltungen aufbewahren, in Tagen",
    session_path: "Ordner der Sitzung",
    sign_in: "Anmeldung erlauben",
    signing_secret: "Signaturgeheimnis",
    silence_timeout_secs: "Stille bis zur Nachfrage in Sekunden",
    slash_commands: "Slash-Befehle",
    smtp_host: "SMTP-Server",
    smtp_port: "SMTP-Port",
    smtp_security: "SMTP-Verschlüsselung",
    sop: "Abläufe",
    speaker: "Sprecher",
    speech_timeout_secs: "Ende der Rede nach Sekunden",
    stream_mode: "Anzeige beim Schreiben",
    tenant_id: "Mandanten-ID",
    thread_replies: "In Threads antworten",
    timeout_secs: "Zeitlimit in Sekunden",
    title_model: "Modell für Titel",
    tls_ca: "Zertifizierungsstellen (PEM)",
    tls_ca_file: "Datei der Zertifizierungsstellen",
    token_url: "Token-URL",
    tool: "Werkzeug",
    tool_call_days: "Werkzeugaufrufe aufbewahren, in Tagen",
    tool_timeout_secs: "Wartezeit auf Freigabe in Sekunden",
    tools: "Werkzeuge",
    topic: "Topic",
    topics: "Topics",
    transcription: "Transkription",
    transport: "Verbindung",
    trust_forwarded_headers: "Weitergeleiteten Headern vertrauen",
    trusted_proxies: "Vertrauenswürdige Proxys",
    tts: "Sprachausgabe",
    turn_timeout_secs: "Zeitlimit je Anfrage in Sekunden",
    url: "URL",
    url_secret: "Geheimnis in der URL",
    use_feishu: "Feishu verwenden",
    user_id: "Nutzer-ID",
    username: "Benutzername",
    verification_token: "Verifizierungstoken",
    verified_callers_only: "Nur geprüfte Anrufer",
    verify_token: "Verifizierungstoken",
    voice: "Stimme",
    watch: "Überwachte Pins",
    webauthn: "Passkeys",
    webhook: "Webhook",
    webhook_rate_limit_per_minute: "Webhook-Anfragen pro Minute",
    webhook_secret: "Webhook-Geheimnis",
    webhook_url: "Webhook-URL",
    workspace: "Arbeitsbereich",
    workspace_only: "Nur im Arbeitsbereich",
    writable: "Beschreibbare Pfade",
    item: "Eintrag",
  },
  help: {
    'Program and arguments; it speaks the Agent Client Protocol, e.g. ["claude-code-acp"].':
      'Programm und Argumente; es spricht das Agent Client Protocol, z. B. ["claude-code-acp"].',
    "Let agents start child agents.": "Agenten dürfen Unteragenten starten.",
    "What one child agent may cost in US dollars, with those that it makes. Default: no limit.":
      "So viel darf ein Unteragent samt denen, die er startet, in US-Dollar kosten. Ohne Angabe unbegrenzt.",
    "Tokens that one child agent may use, with those that it makes. Default: no limit.":
      "So viele Tokens darf ein Unteragent samt denen, die er startet, verbrauchen. Ohne Angabe unbegrenzt.",
    "Calls of tools that one child agent may make, with those that it makes. Default: no limit.":
      "So viele Werkzeugaufrufe darf ein Unteragent samt denen, die er startet, machen. Ohne Angabe unbegrenzt.",
    "Child agents that have a process at the same time.": "So viele Unteragenten haben zugleich einen Prozess.",
    "How deep child agents may make child agents: 1 means not at all.":
      "Wie tief Unteragenten weitere starten dürfen: 1 heißt gar nicht.",
    "Processes of one child agent; beyond that it is killed (Linux).":
      "Prozesse eines Unteragenten; mit mehr wird er beendet (Linux).",
    "Longest time for one prompt, in seconds.": "Längste Zeit für eine Aufgabe, in Sekunden.",
    "A child agent that runs without an event for this many seconds is killed.":
      "Ein Unteragent, der so viele Sekunden ohne Ereignis läuft, wird beendet.",
    "Programs that speak the Agent Client Protocol, by name. They run in the agent's sandbox.":
      "Programme, die das Agent Client Protocol sprechen, nach Namen. Sie laufen in der Sandbox des Agenten.",
    "Child agents in processes of their own": "Unteragenten in eigenen Prozessen",
    "Base URL of the homeserver's client API, such as https://matrix.example.org.":
      "Basis-URL der Client-API des Homeservers, etwa https://matrix.example.org.",
    "Host name that passkeys are bound to: that of rp_origin, or a domain above it. Default: the host of rp_origin.":
      "Hostname, an den Passkeys gebunden sind: der von rp_origin oder eine Domain darüber. Standard: der Host von rp_origin.",
    "Where the page is that people use their passkeys on. Default: gateway.public_url; without that, http://localhost.":
      "Adresse der Seite, auf der Passkeys verwendet werden. Standard: gateway.public_url, sonst http://localhost.",
    "Who transcribes: OpenAI, another service with its interface, or a program of this machine.":
      "Wer transkribiert: OpenAI, ein anderer Dienst mit derselben Schnittstelle oder ein Programm auf diesem Rechner.",
    "Program and arguments for provider = command, started without a shell: {file} is the recording, {wav} the same as 16 kHz WAV. It writes the text.":
      "Programm und Argumente für provider = command, ohne Shell gestartet: {file} ist die Aufnahme, {wav} dieselbe als WAV mit 16 kHz. Es schreibt den Text.",
    "Turn answers into speech: on telephone calls, and in chats as reply says.":
      "Antworten in Sprache umwandeln: am Telefon, und in Chats so, wie reply es sagt.",
    "Who speaks: OpenAI, another service with its interface, or a program of this machine.":
      "Wer spricht: OpenAI, ein anderer Dienst mit derselben Schnittstelle oder ein Programm auf diesem Rechner.",
    "Program and arguments for provider = command, started without a shell: it reads the text, or finds it in {text}, and writes WAV, Ogg or MP3.":
      "Programm und Argumente für provider = command, ohne Shell gestartet: Es liest den Text oder findet ihn in {text} und schreibt WAV, Ogg oder MP3.",
    "Which answers in chats are spoken beside their text. voice: those to messages that came as a recording.":
      "Welche Antworten in Chats zusätzlich zum Text gesprochen werden. voice: die auf Nachrichten, die als Aufnahme kamen.",
    'The same for single channels, by their id: email = "always".':
      'Dasselbe für einzelne Kanäle, nach ihrer ID: email = "always".',
    "Private key of the agent's account, nsec1… or 64 hexadecimal digits. Keep secrets.encrypt on.":
      "Privater Schlüssel des Kontos des Agenten, nsec1… oder 64 Hexadezimalziffern. Lass secrets.encrypt eingeschaltet.",
    "Relays that the account reads from and writes to, such as wss://relay.example.org.":
      "Relays, von denen das Konto liest und an die es schreibt, etwa wss://relay.example.org.",
    "Public keys (npub1… or 64 hexadecimal digits) that may write to the agent; * lets everyone. Empty: no one.":
      "Öffentliche Schlüssel (npub1… oder 64 Hexadezimalziffern), die dem Agenten schreiben dürfen; * lässt alle zu. Leer: niemand.",
    "Public keys of those who may answer approval requests there; nobody without it.":
      "Öffentliche Schlüssel derer, die dort Freigaben beantworten dürfen; ohne Angabe niemand.",
    "Public key that notifications and approval requests are sent to.":
      "Öffentlicher Schlüssel, an den Benachrichtigungen und Freigabeanfragen gehen.",
    "Public keys that the agent may write to with channel_send; * is any. Those who wrote to it, and notification_target, need not be listed.":
      "Öffentliche Schlüssel, denen der Agent mit channel_send schreiben darf; * ist jeder. Wer ihm geschrieben hat und notification_target müssen nicht aufgeführt sein.",
    "GDB server of a debug probe, for the feature probe: OpenOCD, st-util or probe-rs. Default: svc starts OpenOCD, if it is installed, for each reading.":
      "GDB-Server einer Debug-Probe, für die Funktion probe: OpenOCD, st-util oder probe-rs. Standard: svc startet OpenOCD, falls installiert, für jede Messung.",
    "Script of OpenOCD for the adapter and the board, where no gdb_server is set. Default: board/st_nucleo_f4.cfg.":
      "OpenOCD-Skript für Adapter und Board, wenn kein gdb_server gesetzt ist. Standard: board/st_nucleo_f4.cfg.",
    "Makes it an analog pin, which counts as HIGH from this reading on, as the board's converter counts.":
      "Macht ihn zu einem analogen Pin, der ab diesem Messwert als HIGH zählt, so wie der Wandler des Boards zählt.",
    "How far below `above` the reading has to fall to count as LOW.":
      "Wie weit der Messwert unter `above` fallen muss, um als LOW zu zählen.",
    "Relay network: encrypted and gift-wrapped direct messages":
      "Relay-Netz: verschlüsselte, verpackte Direktnachrichten",
    "A container of podman or docker around commands": "Ein Container von Podman oder Docker um Befehle",
    "A seatbelt profile around commands": "Ein Seatbelt-Profil um Befehle",
    "Browser tool in process, driving an installed Chromium":
      "Browser-Werkzeug im Dienst selbst, steuert ein installiertes Chromium",
    "Browser tool through a computer-use service": "Browser-Werkzeug über einen Computer-Use-Dienst",
    "Browser tool through the agent-browser program (the default backend)":
      "Browser-Werkzeug über das Programm agent-browser (Standard-Backend)",
    "Discord bot, by its gateway connection": "Discord-Bot, über die Gateway-Verbindung",
    "E-mail: IMAP in, SMTP out": "E-Mail: Eingang über IMAP, Ausgang über SMTP",
    "Federated chat with end-to-end encryption, drafts by edits and voice transcription":
      "Föderierter Chat mit Ende-zu-Ende-Verschlüsselung, Entwürfen durch Bearbeiten und Transkription",
    "Fetches a URL through the guarded client": "Ruft eine URL über den abgesicherten Client ab",
    "GET /metrics in text format": "GET /metrics im Textformat",
    "GPIO of the Raspberry Pi it runs on": "GPIO des Raspberry Pi, auf dem es läuft",
    "I2C, SPI and GPIO through an Aardvark adapter, and I2C of this computer":
      "I2C, SPI und GPIO über einen Aardvark-Adapter, und I2C dieses Rechners",
    "Kernel-enforced file system rules around commands (Linux 5.13 or newer)":
      "Dateisystemregeln des Kernels um Befehle (ab Linux 5.13)",
    "Lark and Feishu apps, by long connection or callback":
      "Apps für Lark und Feishu, über Dauerverbindung oder Callback",
    "Live chip information and memory over USB/SWD": "Chipinformationen und Speicher live über USB/SWD",
    "Mailpush: web mail by push notifications": "Mailpush: Webmail per Push-Benachrichtigung",
    "Passkeys at the gateway": "Passkeys am Gateway",
    "Procedures started by messages of an MQTT broker": "Abläufe, die Nachrichten eines MQTT-Brokers starten",
    "Procedures started by pins of boards": "Abläufe, die Pins von Boards starten",
    "Provider A: cloud messaging API, by webhook": "Anbieter A: Cloud-API für Nachrichten, über Webhook",
    "Provider B: partner API for iMessage, RCS and SMS, by webhook":
      "Anbieter B: Partner-API für iMessage, RCS und SMS, über Webhook",
    "Provider C: hosted business-chat API, by webhook": "Anbieter C: gehostete API für Geschäftschats, über Webhook",
    "Provider D: chat bot of a self-hosted collaboration suite, by webhook":
      "Anbieter D: Chatbot einer selbst gehosteten Kollaborationssuite, über Webhook",
    "Reads, writes and lists files in the workspace": "Liest, schreibt und listet Dateien im Arbeitsbereich",
    "Replies and notifications posted to a URL of the operator's":
      "Antworten und Benachrichtigungen an eine eigene URL",
    "Runs a shell command in the sandbox": "Führt einen Shell-Befehl in der Sandbox aus",
    "Slack app, by Socket Mode or the Events API": "Slack-App, über Socket Mode oder die Events API",
    "Telegram bot, by long polling or webhook": "Telegram-Bot, über Long Polling oder Webhook",
    "Telephone calls by a programmable-voice platform": "Telefonanrufe über eine Plattform für programmierbare Sprache",
    "Text of PDF files": "Text aus PDF-Dateien",
    "Tools from WASM plugins, and the plugin commands": "Werkzeuge aus WASM-Plugins und die Befehle dafür",
    "Traces by OTLP over HTTP": "Traces per OTLP über HTTP",
    "USB and serial board registry, GPIO and serial tools":
      "Verzeichnis der USB- und seriellen Boards, Werkzeuge für GPIO und seriell",
    "What is known of the configured boards, and data sheets":
      "Wissen über die eingerichteten Boards, und Datenblätter",
    "bubblewrap (user namespaces) around commands": "Bubblewrap (User-Namespaces) um Befehle",
    "firejail around commands": "Firejail um Befehle",
    "A change is in force after a restart.": "Eine Änderung gilt nach einem Neustart.",
    "Tokens of history sent with a turn; the oldest turns are dropped whole.":
      "Tokens des Verlaufs, die mit einer Anfrage gesendet werden; die ältesten fallen vollständig weg.",
    "What the agent is told before every conversation.": "Was dem Agenten vor jeder Unterhaltung gesagt wird.",
    "Most US dollars an agent may spend in a day (UTC). Needs the price of its model.":
      "So viele US-Dollar darf ein Agent höchstens pro Tag (UTC) ausgeben. Braucht den Preis seines Modells.",
    "Turns that run at the same time, over all conversations.":
      "Anfragen, die gleichzeitig laufen, über alle Unterhaltungen.",
    "Most model calls in one turn.": "Höchstzahl an Modellaufrufen in einer Anfrage.",
    "Titles new conversations while no turn runs: model.name or one of model.choices. Default: their first words.":
      "Benennt neue Unterhaltungen, solange keine Anfrage läuft: model.name oder eines aus model.choices. Standard: ihre ersten Wörter.",
    "Seconds a turn may run; waiting for a person does not count.":
      "So viele Sekunden darf eine Anfrage laufen; das Warten auf eine Person zählt nicht.",
    "What this agent is told before every conversation.": "Was diesem Agenten vor jeder Unterhaltung gesagt wird.",
    "Other models of its provider that people may choose in a conversation with it.":
      "Weitere Modelle seines Anbieters, die in einer Unterhaltung mit ihm gewählt werden können.",
    "Retries of a failed model call.": "Wiederholungen eines fehlgeschlagenen Modellaufrufs.",
    "Another provider; nothing of [model] is taken over then, its key least of all.":
      "Ein anderer Anbieter; dann wird nichts aus [model] übernommen, vor allem nicht der Schlüssel.",
    "As in [security.policy].": "Wie in [security.policy].",
    "The tools it has; without this line, all of them.": "Die Werkzeuge, die er hat; ohne diese Zeile alle.",
    "Its own working directory, absolute or below the home.":
      "Sein eigenes Arbeitsverzeichnis, absolut oder unterhalb des Datenverzeichnisses.",
    "Seconds after which an approval request that nobody answered is over.":
      "Sekunden, nach denen eine unbeantwortete Freigabeanfrage verfällt.",
    "Seconds to wait for a person before an asked-for call is refused.":
      "So viele Sekunden wird auf eine Person gewartet, bevor der angefragte Aufruf abgelehnt wird.",
    "The program agent-browser. Default: the one on the PATH.": "Das Programm agent-browser. Standard: das im PATH.",
    "Hosts that pages, and all that is in them, may come from: example.com or *.example.com with all below it, an address, or * for every public one. Empty: none.":
      "Hosts, von denen Seiten und alles darin kommen dürfen: example.com, *.example.com mit allen darunter, eine Adresse oder * für alle öffentlichen. Leer: keine.",
    "Who drives it: the program agent-browser, svc itself (native), or the service at computer_use_endpoint.":
      "Wer ihn steuert: das Programm agent-browser, svc selbst (native) oder der Dienst unter computer_use_endpoint.",
    "The Chromium to start. Default: the one that is installed.":
      "Das Chromium, das gestartet wird. Standard: das installierte.",
    "URL that takes the actions of the backend computer_use.":
      "URL, die die Aktionen des Backends computer_use annimmt.",
    "Titles of the windows that it may act in. Empty: the browser's own.":
      "Titel der Fenster, in denen er handeln darf. Leer: nur die des Browsers.",
    "Agents have a browser.": "Agenten haben einen Browser.",
    "Seconds without a call after which a conversation's browser is closed.":
      "Sekunden ohne Aufruf, nach denen der Browser einer Unterhaltung geschlossen wird.",
    "The native browser shows no window.": "Der native Browser zeigt kein Fenster.",
    "Reaction that marks a message while it is answered; blank for none.":
      "Reaktion, die eine Nachricht markiert, während sie beantwortet wird; leer für keine.",
    "Ids of the servers in which it listens; without it, all that the bot was invited to.":
      "IDs der Server, auf denen er zuhört; ohne Angabe alle, zu denen der Bot eingeladen wurde.",
    "Ids of users that may write to the agent; * lets everyone.":
      "IDs der Nutzer, die dem Agenten schreiben dürfen; * lässt alle zu.",
    "Base URL of the platform's API; another one for a proxy or a test.":
      "Basis-URL der API der Plattform; eine andere für einen Proxy oder Test.",
    "Token of the bot, without the word Bot in front.": "Token des Bots, ohne das Wort Bot davor.",
    "Least milliseconds between two edits of an answer.":
      "So viele Millisekunden liegen mindestens zwischen zwei Bearbeitungen einer Antwort.",
    "Set to false to turn the feature off and keep its settings.":
      "Auf false schaltet die Funktion aus und behält ihre Einstellungen.",
    "On a server only what mentions the bot or its role, or answers a message of its, reaches the agent.":
      "Auf einem Server erreicht den Agenten nur, was den Bot oder seine Rolle erwähnt oder auf seine Nachricht antwortet.",
    "Registers /new, /model, /status, /stop and /help with the platform.":
      "Meldet /new, /model, /status, /stop und /help bei der Plattform an.",
    "partial: an answer is sent at its beginning and edited as it grows. multi_message: each paragraph is sent as soon as it is complete.":
      "partial: Eine Antwort wird früh gesendet und fortlaufend bearbeitet. multi_message: Jeder Absatz wird gesendet, sobald er fertig ist.",
    "A thread that the bot opened or was mentioned in needs no further mention.":
      "Ein Thread, den der Bot eröffnet hat oder in dem er erwähnt wurde, braucht keine weitere Erwähnung.",
    "OAuth access token (XOAUTH2), instead of a password. Ends soon unless there is a refresh token.":
      "OAuth-Zugriffstoken (XOAUTH2) statt eines Passworts. Läuft bald ab, wenn es kein Refresh-Token gibt.",
    "Our mail address: what answers come from.": "Unsere Mailadresse: Von ihr kommen die Antworten.",
    "Addresses, domains or @domains that may write to the agent; * lets everyone.":
      "Adressen, Domains oder @Domains, die dem Agenten schreiben dürfen; * lässt alle zu.",
    "Name under which that server writes Authentication-Results; without it the topmost of these headers counts, whoever's it is.":
      "Name, unter dem dieser Server Authentication-Results schreibt; ohne Angabe zählt der oberste dieser Header, von wem er auch ist.",
    "OAuth client of refresh_token.": "OAuth-Client von refresh_token.",
    "Secret of the OAuth client.": "Geheimnis des OAuth-Clients.",
    "Name that is shown with it.": "Name, der dazu angezeigt wird.",
    "IMAP server, where mail is read.": "IMAP-Server, auf dem E-Mails gelesen werden.",
    "Its port; default: 993, or 143 without TLS from the start.":
      "Sein Port; Standard: 993, oder 143 ohne TLS von Anfang an.",
    "tls: from the start. starttls: asked for before anything else is said, or the connection ends. none: only to this machine, or to an address in security.net.allow_private. Default: tls, at port 143 starttls.":
      "tls: von Anfang an. starttls: wird verlangt, bevor irgendetwas anderes gesagt wird, sonst endet die Verbindung. none: nur zu diesem Rechner oder zu einer Adresse in security.net.allow_private. Standard: tls, bei Port 143 starttls.",
    "Mailbox that is read, as the server calls it.": "Postfach, das gelesen wird, so wie es auf dem Server heißt.",
    "Mark mail as read when its turn begins.": "E-Mails als gelesen markieren, sobald ihre Bearbeitung beginnt.",
    "More mails of one thread within an hour are a loop of two programs, and not answered; 0 for no limit.":
      "Mehr E-Mails eines Threads innerhalb einer Stunde gelten als Schleife zweier Programme und werden nicht beantwortet; 0 für keine Grenze.",
    "Largest file either way, in MiB.": "Größte Datei in beide Richtungen, in MiB.",
    "Password of the mailbox, or an app password. Not needed with a token.":
      "Passwort des Postfachs oder ein App-Passwort. Mit Token nicht nötig.",
    "Seconds between two looks at a server that can't tell of new mail (IDLE).":
      "Sekunden zwischen zwei Abfragen bei einem Server, der neue E-Mails nicht meldet (IDLE).",
    "Mailbox that mail is moved to once it is answered. It must be there.":
      "Postfach, in das beantwortete E-Mails verschoben werden. Es muss existieren.",
    "Refresh token, with which access tokens are got as they are needed.":
      "Refresh-Token, mit dem bei Bedarf Zugriffstoken geholt werden.",
    "Mail is answered only if the server that took it in found by DMARC, DKIM or SPF that it comes from the domain it says. Without this, whoever knows an allowed address writes in its name, and an approver's too.":
      "Eine E-Mail wird nur beantwortet, wenn der annehmende Server durch DMARC, DKIM oder SPF festgestellt hat, dass sie von der genannten Domain kommt. Ohne das kann jeder, der eine erlaubte Adresse kennt, in deren Namen schreiben, auch in dem von jemandem, der freigeben darf.",
    "Where answers are kept: off, auto (the mailbox that the server calls its sent mail), or a mailbox's name.":
      "Wo Antworten aufbewahrt werden: off, auto (das Postfach, das der Server für gesendete E-Mails nennt) oder der Name eines Postfachs.",
    "SMTP server, where answers go out.": "SMTP-Server, über den Antworten hinausgehen.",
    "Its port; default: 465, or 587 without TLS from the start.":
      "Sein Port; Standard: 465, oder 587 ohne TLS von Anfang an.",
    "As imap_security. Default: tls, at the ports 587 and 25 starttls.":
      "Wie imap_security. Standard: tls, bei den Ports 587 und 25 starttls.",
    "PEM file of certificate authorities that both servers' certificates may be from, instead of the usual ones.":
      "PEM-Datei der Zertifizierungsstellen, von denen die Zertifikate beider Server sein dürfen, statt der üblichen.",
    "Where the refresh token is exchanged.": "Wo das Refresh-Token eingetauscht wird.",
    "Name to sign in with; default: address.": "Name für die Anmeldung; Standard: address.",
    "Access token of the account's device. Without it, password and `svc channels setup federated`.":
      "Zugriffstoken des Geräts des Kontos. Ohne Angabe: password und `svc channels setup federated`.",
    "Rooms in which messages are answered, by id or alias; * is any. Default: room_id if set, else any.":
      "Räume, in denen Nachrichten beantwortet werden, als ID oder Alias; * ist jeder. Standard: room_id, falls gesetzt, sonst jeder.",
    "People, by user id, that may write to the agent; * lets everyone.":
      "Personen, als Nutzer-ID, die dem Agenten schreiben dürfen; * lässt alle zu.",
    "The device that the access token belongs to. Without it, the homeserver is asked.":
      "Das Gerät, zu dem das Zugriffstoken gehört. Ohne Angabe wird der Homeserver gefragt.",
    "allowed: invitations from allowed_users to allowed_rooms are accepted. never: none is.":
      "allowed: Einladungen von allowed_users in allowed_rooms werden angenommen. never: keine.",
    "In rooms with more than two members, answer only messages that mention the account or reply to it.":
      "In Räumen mit mehr als zwei Mitgliedern nur Nachrichten beantworten, die das Konto erwähnen oder ihm antworten.",
    "Password of the account. `svc channels setup federated` logs in with it and stores the token.":
      "Passwort des Kontos. `svc channels setup federated` meldet sich damit an und speichert das Token.",
    "Recovery key of the account: opens its cross-signing keys and its key backup.":
      "Wiederherstellungsschlüssel des Kontos: öffnet seine Cross-Signing-Schlüssel und seine Schlüsselsicherung.",
    "Room that is joined at start, by id or alias. Notifications go there by default.":
      "Raum, der beim Start betreten wird, als ID oder Alias. Benachrichtigungen gehen standardmäßig dorthin.",
    "The account, such as @svc:example.org. Required with password.":
      "Das Konto, etwa @svc:example.org. Mit password erforderlich.",
    "The channel is on only when this is true.": "Der Kanal ist nur eingeschaltet, wenn das true ist.",
    "Where the keys of those tokens are.": "Wo die Schlüssel dieser Tokens stehen.",
    "Labels, by name or id; mail with any of them is read. Empty: all mail but spam and what is sent.":
      "Labels, als Name oder ID; E-Mails mit einem davon werden gelesen. Leer: alle außer Spam und Gesendetem.",
    "Access token of the mailbox. Ends after an hour unless the three keys of the refresh token are set.":
      "Zugriffstoken des Postfachs. Läuft nach einer Stunde ab, wenn nicht die drei Schlüssel des Refresh-Tokens gesetzt sind.",
    "Base URL of Pub/Sub's API, for the set-up.": "Basis-URL der API von Pub/Sub, für die Einrichtung.",
    "Audience of the tokens with which Pub/Sub signs its pushes.":
      "Audience der Tokens, mit denen Pub/Sub seine Pushes signiert.",
    "Service account for which Pub/Sub signs its pushes; its address.":
      "Dienstkonto, für das Pub/Sub seine Pushes signiert; seine Adresse.",
    "Refresh token of the mailbox, with which access tokens are got as they are needed.":
      "Refresh-Token des Postfachs, mit dem bei Bedarf Zugriffstoken geholt werden.",
    "Where a refresh token is exchanged.": "Wo ein Refresh-Token eingetauscht wird.",
    "Pub/Sub topic to which the mailbox tells that there is new mail.":
      "Pub/Sub-Topic, dem das Postfach neue E-Mails meldet.",
    "Bearer secret that a push may present. Pub/Sub itself can't; it signs: see push_audience.":
      "Bearer-Geheimnis, das ein Push vorweisen kann. Pub/Sub selbst kann das nicht; es signiert: siehe push_audience.",
    "URL for the push subscription; default: gateway.public_url and the path.":
      "URL für das Push-Abonnement; Standard: gateway.public_url und der Pfad.",
    "Access token of the Cloud API. Cloud mode needs it.": "Zugriffstoken der Cloud API. Der Cloud-Modus braucht es.",
    "Phone numbers with country code, or user ids of those who hide theirs, that may write to the agent; * lets everyone.":
      "Telefonnummern mit Landesvorwahl, oder Nutzer-IDs von Personen, die ihre verbergen, die dem Agenten schreiben dürfen; * lässt alle zu.",
    "App secret, with which the platform signs deliveries. Without it anybody can make one up.":
      "App-Geheimnis, mit dem die Plattform Zustellungen signiert. Ohne das kann jeder eine erfinden.",
    "Web mode: kind of the linked account.": "Web-Modus: Art des verbundenen Kontos.",
    "Web mode: phone number to link by a code; without it by a QR code.":
      "Web-Modus: Telefonnummer zum Koppeln mit einem Code; ohne Angabe mit einem QR-Code.",
    "Id of the business phone number; being there selects Cloud mode.":
      "ID der geschäftlichen Telefonnummer; ist sie gesetzt, gilt der Cloud-Modus.",
    "Folder of the linked session; selects Web mode.": "Ordner der verbundenen Sitzung; wählt den Web-Modus.",
    "What the platform must say when it verifies the callback URL: enter it there too. Cloud mode needs it.":
      "Was die Plattform sagen muss, wenn sie die Callback-URL prüft: Trage es auch dort ein. Der Cloud-Modus braucht es.",
    "Phone numbers or mail addresses that may write to the agent; * lets everyone.":
      "Telefonnummern oder Mailadressen, die dem Agenten schreiben dürfen; * lässt alle zu.",
    "Token of the partner API.": "Token der Partner-API.",
    "Your line there, as + and digits: new chats begin from it.":
      "Deine Leitung dort, als + und Ziffern: Neue Chats beginnen von ihr.",
    "Secret of the webhook subscription. Without it anybody can make deliveries up.":
      "Geheimnis des Webhook-Abonnements. Ohne das kann jeder Zustellungen erfinden.",
    "Phone numbers that may write to the agent; * lets everyone.":
      "Telefonnummern, die dem Agenten schreiben dürfen; * lässt alle zu.",
    "Bearer token of the API.": "Bearer-Token der API.",
    "Address that the platform names for your account, without the account's number.":
      "Adresse, die die Plattform für dein Konto nennt, ohne die Nummer des Kontos.",
    "End the callback URL with ?token= and this: the platform signs nothing, and anybody could post.":
      "Beende die Callback-URL mit ?token= und diesem Wert: Die Plattform signiert nichts, und jeder könnte senden.",
    "Name or number of the line that answers, where the account has several.":
      "Name oder Nummer der Leitung, die antwortet, falls das Konto mehrere hat.",
    "What a GET of the callback URL must say as hub.verify_token.":
      "Was ein GET der Callback-URL als hub.verify_token sagen muss.",
    "User ids that may write to the agent; * lets everyone.":
      "Nutzer-IDs, die dem Agenten schreiben dürfen; * lässt alle zu.",
    "Where the API is called; base_url unless a proxy stands in.":
      "Wo die API aufgerufen wird; base_url, wenn kein Proxy dazwischen ist.",
    "The bot's shared secret, as given to talk:bot:install; signs answers unless webhook_secret is set.":
      "Das gemeinsame Geheimnis des Bots, wie bei talk:bot:install angegeben; signiert Antworten, wenn webhook_secret nicht gesetzt ist.",
    "Address of the Nextcloud server, as people open it.": "Adresse des Nextcloud-Servers, wie man ihn öffnet.",
    "Display name of the bot: what somebody of this name writes is not answered. Blank: no such rule.":
      "Anzeigename des Bots: Was jemand mit diesem Namen schreibt, wird nicht beantwortet. Leer: keine solche Regel.",
    "The same shared secret: checks deliveries and signs answers. 40 to 128 characters.":
      "Dasselbe gemeinsame Geheimnis: prüft Zustellungen und signiert Antworten. 40 bis 128 Zeichen.",
    "Name of the emoji that marks a message while it is answered; blank for none.":
      "Name des Emojis, das eine Nachricht markiert, während sie beantwortet wird; leer für keines.",
    "User ids (U…) that may write to the agent; * lets everyone.":
      "Nutzer-IDs (U…), die dem Agenten schreiben dürfen; * lässt alle zu.",
    "App-level token with connections:write (xapp-…). Socket Mode needs it.":
      "App-Token mit connections:write (xapp-…). Der Socket Mode braucht es.",
    "Bot token of the app (xoxb-…).": "Bot-Token der App (xoxb-…).",
    "In channels, answer only who mentions the bot, or writes in a thread that it takes part in.":
      "In Kanälen nur antworten, wer den Bot erwähnt oder in einem Thread schreibt, an dem er teilnimmt.",
    "socket: we connect to the platform. events: it posts to us, which takes a public URL.":
      "socket: Wir verbinden uns mit der Plattform. events: Sie sendet an uns, was eine öffentliche URL braucht.",
    "What the platform signs with what it posts. The mode events needs it.":
      "Womit die Plattform signiert, was sie sendet. Der Modus events braucht es.",
    "In channels, answer in a thread under the message.": "In Kanälen in einem Thread unter der Nachricht antworten.",
    "People, by their numeric id or @username, that may write to the agent; * lets everyone.":
      "Personen, als numerische ID oder @Benutzername, die dem Agenten schreiben dürfen; * lässt alle zu.",
    "Token of the bot, from @BotFather.": "Token des Bots, von @BotFather.",
    "In groups only what mentions the bot, replies to it or is a command of it is answered.":
      "In Gruppen wird nur beantwortet, was den Bot erwähnt, ihm antwortet oder ein Befehl an ihn ist.",
    "polling: svc asks the platform for messages. webhook: the platform posts them to /telegram.":
      "polling: svc fragt die Plattform nach Nachrichten. webhook: Die Plattform sendet sie an /telegram.",
    "What the platform proves itself with when it posts. webhook mode needs it.":
      "Womit sich die Plattform ausweist, wenn sie sendet. Der Modus webhook braucht es.",
    "Account SID, from the platform's console.": "Account SID, aus der Konsole der Plattform.",
    "Phone numbers with country code that may write to the agent; * lets everyone.":
      "Telefonnummern mit Landesvorwahl, die dem Agenten schreiben dürfen; * lässt alle zu.",
    "Auth token of the account: requests are made with it, and the platform signs its own with it.":
      "Auth-Token des Kontos: Damit werden Anfragen gestellt, und die Plattform signiert damit ihre eigenen.",
    "Said in place of a block of code.": "Wird anstelle eines Codeblocks gesagt.",
    "Wait for the end of a voicemail's greeting before speaking on it.":
      "Das Ende der Ansage einer Mailbox abwarten, bevor darauf gesprochen wird.",
    "Said when an answer takes some seconds; blank: nothing.":
      "Wird gesagt, wenn eine Antwort einige Sekunden dauert; leer: nichts.",
    "Seconds without an answer before the filler is said.": "Sekunden ohne Antwort, bevor der Füllsatz gesagt wird.",
    "The account's phone number, like +15551234567: people call it, and it is the one they are called from.":
      "Die Telefonnummer des Kontos, etwa +15551234567: Sie wird angerufen, und von ihr wird angerufen.",
    "Said before hanging up.": "Wird vor dem Auflegen gesagt.",
    "What a caller hears first.": "Was Anrufende zuerst hören.",
    "Said behind a question that is answered by a key; {approve} and {reject} stand for the answers.":
      "Wird nach einer Frage gesagt, die mit einer Taste beantwortet wird; {approve} und {reject} stehen für die Antworten.",
    "Language that is spoken and understood, like en-US.": "Sprache, die gesprochen und verstanden wird, etwa de-DE.",
    "Longest call, in seconds.": "Längster Anruf, in Sekunden.",
    "Who understands callers: the platform's recogniser, or [transcription] from recordings.":
      "Wer Anrufende versteht: die Spracherkennung der Plattform oder [transcription] aus Aufnahmen.",
    "Said once to a caller who says nothing.": "Wird einmal zu Anrufenden gesagt, die nichts sagen.",
    "Seconds to let the phone ring of somebody who is called.":
      "So viele Sekunden klingelt das Telefon, wenn jemand angerufen wird.",
    "Seconds of silence after which a caller is asked once more, and then left.":
      "Sekunden Stille, nach denen noch einmal gefragt und dann aufgelegt wird.",
    "Who speaks: auto is [tts] while that is on, else the platform's voice.":
      "Wer spricht: auto ist [tts], solange das eingeschaltet ist, sonst die Stimme der Plattform.",
    "Seconds of silence that end what a caller says; 0: the recogniser decides.":
      "Sekunden Stille, mit denen endet, was jemand sagt; 0: Die Spracherkennung entscheidet.",
    "Take calls only whose number the caller's network vouches for (STIR/SHAKEN); numbers can be faked otherwise.":
      "Nur Anrufe annehmen, für deren Nummer das Netz bürgt (STIR/SHAKEN); sonst lassen sich Nummern fälschen.",
    "The platform's voice, by its name there. Default: the platform's standard for the language.":
      "Die Stimme der Plattform, mit ihrem Namen dort. Standard: die übliche der Sprache.",
    "Where the platform reaches this service, without /voice-call. Default: gateway.public_url.":
      "Wo die Plattform diesen Dienst erreicht, ohne /voice-call. Standard: gateway.public_url.",
    "Name of the agent that answers; without it the default one.":
      "Name des Agenten, der antwortet; ohne Angabe der Standardagent.",
    "Chats, rooms or addresses that the agent may write to with channel_send; * is any. Those who wrote to it, and notification_target, need not be listed.":
      "Chats, Räume oder Adressen, denen der Agent mit channel_send schreiben darf; * ist jede. Wer ihm geschrieben hat und notification_target müssen nicht aufgeführt sein.",
    "Who may answer approval requests there, as in its allowlist; nobody without it.":
      "Wer dort Freigaben beantworten darf, wie in der Liste der Erlaubten; ohne Angabe niemand.",
    "Sent as the Authorization header, e.g. Bearer and a token.":
      "Wird als Authorization-Header gesendet, z. B. Bearer und ein Token.",
    "How they are posted.": "Wie sie gesendet werden.",
    "The chat, room or address that notifications and approval requests are posted to.":
      "Chat, Raum oder Adresse, wohin Benachrichtigungen und Freigabeanfragen gehen.",
    "Value callers of POST /webhook send as X-Webhook-Secret.":
      "Wert, den Aufrufer von POST /webhook als X-Webhook-Secret senden.",
    "Key of the Standard Webhooks signature demanded on POST /webhook.":
      "Schlüssel der Signatur nach Standard Webhooks, die bei POST /webhook verlangt wird.",
    "Seconds to wait for the answer before it is tried again.":
      "Sekunden, die auf die Antwort gewartet wird, bevor es erneut versucht wird.",
    "Where messages are posted to; without it, or blank, none are.":
      "Wohin Nachrichten gesendet werden; ohne Angabe oder leer: nirgendwohin.",
    "Key of the Standard Webhooks signature of what is posted. Without it nothing is signed.":
      "Schlüssel der Signatur nach Standard Webhooks für das, was gesendet wird. Ohne ihn wird nichts signiert.",
    "Reaction that acknowledges a message, such as OK; blank for none. Default: one that suits the language of the message.":
      "Reaktion, die eine Nachricht bestätigt, etwa OK; leer für keine. Standard: eine, die zur Sprache der Nachricht passt.",
    "Open IDs of users (ou_…) that may write to the agent; * lets everyone.":
      "Open IDs der Nutzer (ou_…), die dem Agenten schreiben dürfen; * lässt alle zu.",
    "App ID of the app (cli_…).": "App ID der App (cli_…).",
    "App Secret of the app.": "App Secret der App.",
    "Encrypt Key of the app: callbacks are decrypted and their signatures checked with it.":
      "Encrypt Key der App: Damit werden Callbacks entschlüsselt und ihre Signaturen geprüft.",
    "In groups, only messages that mention the bot, or reply to its questions, reach the agent.":
      "In Gruppen erreichen den Agenten nur Nachrichten, die den Bot erwähnen oder auf seine Fragen antworten.",
    "websocket: svc connects to the platform. webhook: it posts to svc, which takes a public HTTPS URL.":
      "websocket: svc verbindet sich mit der Plattform. webhook: Sie sendet an svc, was eine öffentliche HTTPS-URL braucht.",
    "The app is one of Feishu. Legacy: use [channels_config.workchat_cn].":
      "Die App ist eine von Feishu. Veraltet: Verwende [channels_config.workchat_cn].",
    "Verification Token of the app, which each callback must carry.":
      "Verification Token der App, das jeder Callback mitbringen muss.",
    "Seconds that running turns get to finish at shutdown.":
      "So viele Sekunden bekommen laufende Anfragen beim Beenden, um fertig zu werden.",
    "Times a message is tried to be sent before it is a dead letter, and to be answered while the model is down.":
      "So oft wird versucht, eine Nachricht zu senden, bevor sie als unzustellbar gilt, und sie zu beantworten, solange das Modell nicht erreichbar ist.",
    "Allow listening on an address that other machines can reach.":
      "Erlaubt, auf einer Adresse zu lauschen, die andere Rechner erreichen.",
    "Host names served besides IP literals, localhost and the host of public_url.":
      "Hostnamen, die außer IP-Adressen, localhost und dem Host von public_url bedient werden.",
    "Address to listen on. Anything but loopback needs allow_public_bind.":
      "Adresse, auf der gelauscht wird. Alles außer Loopback braucht allow_public_bind.",
    "Most idempotency keys kept, at least 1; the oldest goes first.":
      "Höchstzahl gespeicherter Idempotenzschlüssel, mindestens 1; die ältesten fallen weg.",
    "Seconds in which a repeated idempotency key is a duplicate.":
      "Sekunden, in denen ein wiederholter Idempotenzschlüssel als Duplikat gilt.",
    "Largest request body in bytes.": "Größte Anfrage in Bytes.",
    "Days without a request after which a page is signed out.":
      "Tage ohne Anfrage, nach denen eine Seite abgemeldet wird.",
    "TCP port; 0 takes a free one.": "TCP-Port; 0 nimmt einen freien.",
    "The HTTPS URL that providers call.": "Die HTTPS-URL, die Anbieter aufrufen.",
    "Most clients tracked by the limiter; the least recent goes first. 0 is the default.":
      "So viele Clients zählt der Begrenzer höchstens; die am längsten untätigen fallen weg. 0 ist der Standard.",
    "POST /webhook needs a pairing bearer token.": "POST /webhook braucht ein Bearer-Token aus einer Kopplung.",
    "A webhook whose secret is not configured is refused instead of trusted.":
      "Ein Webhook ohne gesetztes Geheimnis wird abgewiesen, statt ihm zu vertrauen.",
    "Take the client's address from X-Forwarded-For / X-Real-IP of a trusted proxy.":
      "Die Adresse des Clients aus X-Forwarded-For / X-Real-IP eines vertrauenswürdigen Proxys nehmen.",
    "Peers whose forwarding headers count: addresses or CIDR ranges.":
      "Gegenstellen, deren Weiterleitungs-Header zählen: Adressen oder CIDR-Bereiche.",
    "Requests a minute per client on /webhook; 0 disables.":
      "Anfragen pro Minute und Client auf /webhook; 0 schaltet die Grenze ab.",
    "Library of the maker for Aardvark adapters, such as /opt/aardvark/aardvark.so. Default: the usual paths.":
      "Bibliothek des Herstellers für Aardvark-Adapter, etwa /opt/aardvark/aardvark.so. Standard: die üblichen Pfade.",
    "Find boards that are plugged in, and give the agents tools for them.":
      "Angeschlossene Boards finden und den Agenten Werkzeuge dafür geben.",
    "Folder of firmware images for pico_flash, absolute or below the home.":
      "Ordner der Firmware-Images für pico_flash, absolut oder unterhalb des Datenverzeichnisses.",
    "I2C buses of this computer that the I2C tools may use, such as /dev/i2c-1.":
      "I2C-Busse dieses Rechners, die die I2C-Werkzeuge verwenden dürfen, etwa /dev/i2c-1.",
    "Keep the log in the logs folder of the home too; svc logs shows it.":
      "Das Protokoll auch im Ordner logs des Datenverzeichnisses aufbewahren; svc logs zeigt es.",
    "Least severe line written.": "Geringste Stufe, die geschrieben wird.",
    "Megabytes after which a log file is put aside.": "Megabyte, nach denen eine Protokolldatei abgelöst wird.",
    "Log files kept, the current one included.": "Aufbewahrte Protokolldateien, die aktuelle eingeschlossen.",
    "API key of the provider.": "API-Schlüssel des Anbieters.",
    "API base URL; required for openai-compatible.": "Basis-URL der API; für openai-compatible erforderlich.",
    "Other models of the same provider that people may choose in a conversation, by /model.":
      "Weitere Modelle desselben Anbieters, die in einer Unterhaltung mit /model gewählt werden können.",
    "Most tokens in one answer.": "Höchstzahl an Tokens in einer Antwort.",
    "Retries of a failed model call, with back-off.":
      "Wiederholungen eines fehlgeschlagenen Modellaufrufs, mit wachsenden Pausen.",
    "Model name as the provider spells it.": "Name des Modells, wie ihn der Anbieter schreibt.",
    "US dollars for a million input tokens.": "US-Dollar für eine Million Eingabetokens.",
    "US dollars for a million output tokens.": "US-Dollar für eine Million Ausgabetokens.",
    "Who answers. builtin needs no key and no network.":
      "Wer antwortet. builtin braucht keinen Schlüssel und kein Netz.",
    "Name of the session that the broker keeps while svc is down. Each client needs its own. Default: one is made at the first start and kept.":
      "Name der Sitzung, die der Broker behält, während svc nicht läuft. Jeder Client braucht einen eigenen. Standard: Beim ersten Start wird einer erzeugt und behalten.",
    "Password of that user.": "Passwort dieses Benutzers.",
    "PEM file of certificate authorities that the broker's certificate may be from, instead of the usual ones.":
      "PEM-Datei der Zertifizierungsstellen, von denen das Zertifikat des Brokers sein darf, statt der üblichen.",
    "Topic filters to subscribe to, with QoS 1. A trigger of a procedure sees only messages that one of them matches.":
      "Topic-Filter, die mit QoS 1 abonniert werden. Ein Auslöser eines Ablaufs sieht nur Nachrichten, auf die einer davon passt.",
    "Address of the broker. mqtts:// is encrypted; mqtt:// is refused for public addresses. Default ports: 1883 and 8883.":
      "Adresse des Brokers. mqtts:// ist verschlüsselt; mqtt:// wird für öffentliche Adressen abgelehnt. Standardports: 1883 und 8883.",
    "User name at the broker.": "Benutzername beim Broker.",
    "Who watches: nobody (none, noop), a line in the log for each turn and delivery, GET /metrics, or traces by OTLP (otel, opentelemetry, otlp).":
      "Wer beobachtet: niemand (none, noop), eine Protokollzeile je Anfrage und Zustellung, GET /metrics oder Traces über OTLP (otel, opentelemetry, otlp).",
    "Base URL of the OTLP/HTTP collector; /v1/traces is added.":
      "Basis-URL des OTLP/HTTP-Collectors; /v1/traces wird angefügt.",
    "Headers for the collector, e.g. authorization=Bearer%20token; values percent-encoded.":
      "Header für den Collector, z. B. authorization=Bearer%20token; Werte prozentkodiert.",
    "How traces are written; every collector takes the first.":
      "Wie Traces geschrieben werden; jeder Collector nimmt das Erste.",
    "Record what people, model and tools say in traces too.":
      "Auch aufzeichnen, was Personen, Modell und Werkzeuge sagen.",
    "Share of traces that are recorded, 0 to 1.": "Anteil der aufgezeichneten Traces, 0 bis 1.",
    "Name under which the traces come.": "Name, unter dem die Traces ankommen.",
    "Boards that svc uses, beside those that it finds by itself with [hardware].":
      "Boards, die svc verwendet, neben denen, die es mit [hardware] selbst findet.",
    "Baud rate of the serial port. Default: by what the board speaks.":
      "Baudrate des seriellen Anschlusses. Standard: je nachdem, was das Board spricht.",
    "Which board it is, such as raspberry-pi-pico, arduino-uno or esp32. Its alias begins with it.":
      "Welches Board es ist, etwa raspberry-pi-pico, arduino-uno oder esp32. Sein Alias beginnt damit.",
    "Serial port, such as /dev/serial/by-id/usb-…, or tcp://127.0.0.1:9999 of a bridge.":
      "Serieller Anschluss, etwa /dev/serial/by-id/usb-…, oder tcp://127.0.0.1:9999 einer Brücke.",
    "serial: a serial port. bridge: JSON lines over TCP. native: the pins of this computer.":
      "serial: ein serieller Anschluss. bridge: JSON-Zeilen über TCP. native: die Pins dieses Rechners.",
    "Pins whose changes start procedures.": "Pins, deren Änderungen Abläufe starten.",
    "How long the level has to last before it counts.": "Wie lange der Pegel anhalten muss, bevor er zählt.",
    "Which change is a signal.": "Welche Änderung ein Signal ist.",
    "The signal's name in a trigger. Default: gpio and the number of the pin.":
      "Name des Signals in einem Auslöser. Standard: gpio und die Nummer des Pins.",
    "Number of the pin, as the board counts them.": "Nummer des Pins, wie das Board sie zählt.",
    "Resistor of the input.": "Widerstand des Eingangs.",
    "Use the boards that are listed here.": "Die hier aufgeführten Boards verwenden.",
    "The agents have the tools of the installed plugins.": "Die Agenten haben die Werkzeuge der installierten Plugins.",
    "Folder of the plugins, absolute or below the home.":
      "Ordner der Plugins, absolut oder unterhalb des Datenverzeichnisses.",
    "Most conversations kept, the most recent first; 0 keeps all.":
      "Höchstzahl aufbewahrter Unterhaltungen, die neuesten zuerst; 0 behält alle.",
    "Days that messages of channels, and the files that came with them, are kept after they were answered.":
      "So viele Tage werden Nachrichten von Kanälen und ihre Dateien nach der Antwort aufbewahrt.",
    "Days after its last turn that a conversation is kept; 0 keeps all.":
      "So viele Tage nach der letzten Anfrage wird eine Unterhaltung aufbewahrt; 0 behält alle.",
    "Days that the journal of tool calls is kept.": "So viele Tage wird das Journal der Werkzeugaufrufe aufbewahrt.",
    "Keep the secrets of this file encrypted with the key file of the home.":
      "Die Geheimnisse dieser Datei mit der Schlüsseldatei des Datenverzeichnisses verschlüsseln.",
    "host:port pairs on private addresses that outgoing requests may reach.":
      "Paare host:port privater Adressen, die ausgehende Anfragen erreichen dürfen.",
    "Commands that shell may run without asking; * is every command. To list a program is to trust its options: prefer `git log` to `git`.":
      "Befehle, die die Shell ohne Rückfrage ausführen darf; * ist jeder Befehl. Wer ein Programm aufführt, vertraut auch seinen Optionen: besser `git log` als `git`.",
    "Calls that run without asking, each exactly as a person approved it with `Always allow`. svc approvals rules lists them, svc approvals revoke ends one.":
      "Aufrufe, die ohne Rückfrage laufen, genau so, wie jemand sie mit `Always allow` freigegeben hat. svc approvals rules listet sie auf, svc approvals revoke beendet einen.",
    "The agent whose call it is.": "Der Agent, dessen Aufruf es ist.",
    "The command line, of a tool that runs one. It is compared word by word.":
      "Die Befehlszeile, bei einem Werkzeug, das eine ausführt. Sie wird Wort für Wort verglichen.",
    "Where the line runs, relative to the workspace. Default: its root.":
      "Wo die Zeile läuft, relativ zum Arbeitsbereich. Standard: an seiner Wurzel.",
    "All other arguments of the call, as JSON.": "Alle weiteren Argumente des Aufrufs, als JSON.",
    "The tool that it calls.": "Das Werkzeug, das aufgerufen wird.",
    "read_only refuses tools that act, supervised asks a person, full runs them.":
      "read_only lehnt handelnde Werkzeuge ab, supervised fragt eine Person, full führt sie aus.",
    "Paths no file tool may touch, absolute or relative to the workspace.":
      "Pfade, die kein Dateiwerkzeug anfassen darf, absolut oder relativ zum Arbeitsbereich.",
    "Acting calls allowed in an hour; 0 is no limit.": "Erlaubte handelnde Aufrufe pro Stunde; 0 ist keine Grenze.",
    "File tools stay inside the workspace.": "Dateiwerkzeuge bleiben im Arbeitsbereich.",
    "auto takes the strongest that is available; none confines nothing.":
      "auto nimmt die stärkste verfügbare; none schränkt nichts ein.",
    "Image of the container backend. It has to be on this machine: none is fetched. Default: debian:stable-slim.":
      "Image des Container-Backends. Es muss auf diesem Rechner liegen: Es wird keines geholt. Standard: debian:stable-slim.",
    "Seconds of processor time of a command. Default: no limit but timeout_secs.":
      "Sekunden Prozessorzeit eines Befehls. Standard: keine Grenze außer timeout_secs.",
    "Confine commands.": "Befehle einschränken.",
    "Megabytes of memory for a command with all that it starts. Default: 2048.":
      "Megabyte Arbeitsspeicher für einen Befehl und alles, was er startet. Standard: 2048.",
    "Commands may reach the network.": "Befehle dürfen ins Netz.",
    "Processes and threads of a command. Default: 256.": "Prozesse und Threads eines Befehls. Standard: 256.",
    "Absolute paths that commands may read, beside the workspace and what programs need to run.":
      "Absolute Pfade, die Befehle lesen dürfen, neben dem Arbeitsbereich und dem, was Programme zum Laufen brauchen.",
    "Refuse to run commands when the backend asked for is not available.":
      "Keine Befehle ausführen, wenn das verlangte Backend nicht verfügbar ist.",
    "Seconds a command may run.": "So viele Sekunden darf ein Befehl laufen.",
    "Absolute paths that commands may write, beside the workspace.":
      "Absolute Pfade, die Befehle schreiben dürfen, neben dem Arbeitsbereich.",
    "Turns passkeys on.": "Schaltet Passkeys ein.",
    "Name that the browser shows.": "Name, den der Browser anzeigt.",
    "Lets a passkey sign in without a bearer: the auth endpoints are open then.":
      "Lässt einen Passkey ohne Bearer anmelden: Die Auth-Endpunkte sind dann offen.",
    "How a procedure that does not say so itself is run.":
      "Wie ein Ablauf ausgeführt wird, der es nicht selbst angibt.",
    "Most runs of procedures at the same time; those that wait count.":
      "Höchstzahl gleichzeitiger Läufe von Abläufen; wartende zählen mit.",
    "Tools the agent does not have.": "Werkzeuge, die der Agent nicht hat.",
    "Bearer key of that service.": "Bearer-Schlüssel dieses Dienstes.",
    "Base URL of a service with OpenAI's /audio/transcriptions.":
      "Basis-URL eines Dienstes mit OpenAIs /audio/transcriptions.",
    "Turn recordings that people send into text.": "Gesendete Aufnahmen in Text umwandeln.",
    "ISO 639-1 code of the language spoken. Default: the service finds out.":
      "ISO-639-1-Code der gesprochenen Sprache. Standard: Der Dienst findet es heraus.",
    "Largest recording sent to it, in bytes.": "Größte Aufnahme, die gesendet wird, in Bytes.",
    "Model that transcribes.": "Modell, das transkribiert.",
    "Base URL of a service with OpenAI's /audio/speech.": "Basis-URL eines Dienstes mit OpenAIs /audio/speech.",
    "Longest text sent to it, in characters; what is longer is cut at a sentence.":
      "Längster Text, der gesendet wird, in Zeichen; längere werden an einem Satz gekürzt.",
    "Model that speaks.": "Modell, das spricht.",
    "Voice, as that service names it.": "Stimme, wie der Dienst sie nennt.",
    "Working directory of tools, absolute or below the home. Default: workspace.":
      "Arbeitsverzeichnis der Werkzeuge, absolut oder unterhalb des Datenverzeichnisses. Standard: workspace.",
    "Speak the answers to what the microphone heard on the loudspeaker of this machine.":
      "Antworten auf das, was das Mikrofon gehört hat, über den Lautsprecher dieses Rechners sprechen.",
    "Name of the linked session in the encrypted store; selects Web mode.":
      "Name der gekoppelten Sitzung im verschlüsselten Speicher; damit gilt der Web-Modus.",
    "Web mode: phone number of the account, to link by a code that is typed; without it by a QR code.":
      "Web-Modus: Telefonnummer des Kontos, um mit einem eingetippten Code zu koppeln; ohne sie mit einem QR-Code.",
    "Web mode. business: the account is the agent's. personal: it is yours; only listed numbers are answered, yours in the chat with yourself included.":
      "Web-Modus. business: Das Konto gehört dem Agenten. personal: Es ist dein eigenes; geantwortet wird nur den aufgeführten Nummern, dir selbst im Chat mit dir.",
    "Web mode, in groups. allowlist: answer people in allowed_numbers. ignore: answer nobody.":
      "Web-Modus. allowlist: In Gruppen gilt, was Nummern aus allowed_numbers schreiben. ignore: Gruppen werden nicht beachtet.",
    "Web mode: in groups, answer only messages that mention the account or reply to it.":
      "Web-Modus: in Gruppen nur auf Nachrichten antworten, die das Konto erwähnen oder ihm antworten.",
    "Web mode: version of the web client that is told to the platform, where it rejects the built-in one.":
      "Web-Modus: Version des Web-Clients, die der Plattform genannt wird, wenn sie die eingebaute ablehnt.",
    "Web mode: public key that signs the certificate of a test server. Needs an api_url on this machine.":
      "Web-Modus: öffentlicher Schlüssel, der das Zertifikat eines Testservers signiert. Braucht eine api_url auf diesem Rechner.",
    "Robot kit: SafetyMonitor and SafeDrive": "Roboter: SafetyMonitor und SafeDrive",
    "Let agents drive the robot.": "Agenten dürfen den Roboter fahren.",
    "What moves the robot.": "Was den Roboter bewegt.",
    "board: motors of a board. simulated: a robot in a simulated room.":
      "board: Motoren an einem Board. simulated: ein Roboter in einem simulierten Raum.",
    "Alias of the board that has the motors, such as arduino0.": "Alias des Boards mit den Motoren, etwa arduino0.",
    "Left motor, as the board's firmware counts.": "Linker Motor, so wie die Firmware des Boards zählt.",
    "Right motor, as the board's firmware counts.": "Rechter Motor, so wie die Firmware des Boards zählt.",
    "Which room is simulated.": "Welcher Raum simuliert wird.",
    "The robot stops this many metres before an obstacle.": "So viele Meter vor einem Hindernis hält der Roboter an.",
    "The robot goes slower within this many times the minimum distance.":
      "Innerhalb dieses Vielfachen des Mindestabstands fährt der Roboter langsamer.",
    "Highest speed within the slow zone and in turns, in m/s.":
      "Höchstes Tempo in der Langsamzone und in Kurven, in m/s.",
    "Highest speed, in m/s.": "Höchstes Tempo, in m/s.",
    "Highest speed in a direction that no distance sensor faces, in m/s; 0: no driving there.":
      "Höchstes Tempo in eine Richtung, in die kein Abstandssensor zeigt, in m/s; 0: keine Fahrt dorthin.",
    "Longest movement, in seconds.": "Längste Fahrt, in Sekunden.",
    "A reading older than this stops the robot, in seconds.":
      "Ist ein Messwert älter als so viele Sekunden, hält der Roboter an.",
    "Pin of the drive board with a normally closed switch to ground; HIGH is pressed, or a cut wire.":
      "Pin des Motor-Boards mit einem Öffner gegen Masse; HIGH heißt gedrückt oder Kabel getrennt.",
    "Pins of the drive board with bump switches to ground at the front; LOW is pressed.":
      "Pins des Motor-Boards mit Stoßschaltern vorn gegen Masse; LOW heißt gedrückt.",
    "Sensors that see obstacles. The simulator has its own.":
      "Sensoren, die Hindernisse erkennen. Der Simulator hat eigene.",
    "Alias of the board that the sensor is connected to.": "Alias des Boards, an dem der Sensor hängt.",
    "distance: metres to what is there. bump: a switch.": "distance: Abstand in Metern. bump: ein Schalter.",
    "Pin of the sensor, as the board's firmware counts.": "Pin des Sensors, so wie die Firmware des Boards zählt.",
    "Where it looks, in degrees clockwise: 0 is ahead, 90 right, 180 behind.":
      "Blickrichtung in Grad im Uhrzeigersinn: 0 ist vorn, 90 rechts, 180 hinten.",
    "Wake word at the local microphone": "Aktivierungswort am Mikrofon dieses Rechners",
    "What has to be said before a command, in upper or lower case; a part of a word will do.":
      "Was vor einem Befehl gesagt werden muss, groß oder klein geschrieben; auch ein Teil eines Wortes zählt.",
    "Milliseconds of silence that end what is said.": "So viele Millisekunden Stille beenden den Befehl.",
    "Least loudness (RMS, 1 is the loudest) of speech; in a noisy room more is asked for by itself.":
      "Ab dieser Lautstärke (RMS, höchstens 1) zählt es als Sprache; in lauten Räumen steigt die Schwelle von selbst.",
    "Longest command, in seconds; what is said after that is not heard.":
      "Längster Befehl, in Sekunden; was danach gesagt wird, wird nicht mehr aufgenommen.",
    "Microphone, as the recorder program names it. Default: the system's.":
      "Mikrofon, so wie das Aufnahmeprogramm es nennt. Standard: das des Systems.",
    "Program and arguments that write 16 kHz mono samples of 16 bits, started without a shell. Default: parec, arecord or ffmpeg, whichever is installed.":
      "Programm und Argumente, ohne Shell gestartet; es schreibt Mono-Samples mit 16 kHz und 16 Bit. Standard: parec, arecord oder ffmpeg, je nachdem, was installiert ist.",
    "Most recordings transcribed in an hour; beyond it nothing is heard until one is an hour old.":
      "Höchstzahl an Aufnahmen, die pro Stunde transkribiert werden; danach wird nichts aufgenommen, bis die älteste eine Stunde her ist.",
    "US dollars that a minute of transcription costs, to show what the last hour cost.":
      "Kosten einer Minute Transkription in US-Dollar, um die Kosten der letzten Stunde zu zeigen.",
  },
};

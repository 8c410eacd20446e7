/** Keys of the config in simplified Chinese: what each is called, its help by the English sentence of the schema, and features by their summary. */
export const zhHans = {
  labels: {
    max_agents: "子智能体上限",
    max_cost_usd: "费用上限（美元）",
    max_tokens: "令牌上限",
    max_actions: "调用上限",
    max_depth: "最大层数",
    max_processes: "进程上限",
    max_run_secs: "最长任务时间（秒）",
    programs: "程序",
    zombie_after_secs: "无事件最长时间（秒）",
    angle: "角度",
    approach_speed_limit: "接近时的最高速度",
    blind_mode_speed_limit: "无传感器时的最高速度",
    bump_pins: "碰撞开关引脚",
    device: "设备",
    drive: "驱动",
    energy_threshold: "最低音量",
    estop_pin: "紧急停止引脚",
    group_policy: "群组消息",
    kind: "类型",
    left: "左侧",
    max_capture_secs: "最长指令（秒）",
    max_drive_duration: "最长行驶时间（秒）",
    max_speed: "最高速度",
    max_transcriptions_per_hour: "每小时转写次数",
    min_obstacle_distance: "与障碍物的最小距离",
    play: "用扬声器播放",
    price_per_minute: "每分钟价格",
    recorder: "录音程序",
    right: "右侧",
    seed: "随机种子",
    sensor_timeout_secs: "读数最长有效时间（秒）",
    sensors: "传感器",
    silence_timeout_ms: "语句结束的静音时间（毫秒）",
    slow_zone_multiplier: "减速区倍数",
    wake_word: "唤醒词",
    web_root_key: "测试服务器根密钥",
    web_version: "WhatsApp Web 版本",
    reply: "语音回复",
    reply_in: "各渠道语音回复",
    private_key: "私钥",
    relays: "中继服务器",
    allowed_pubkeys: "允许的公钥",
    openocd_script: "OpenOCD 脚本",
    above: "高于此读数为 HIGH",
    hysteresis: "回差",
    aardvark_library: "Aardvark 库",
    access_token: "访问令牌",
    account_sid: "账户 SID",
    ack_reaction: "确认回应",
    address: "地址",
    agent: "智能体",
    agent_browser_path: "agent-browser 路径",
    agents: "智能体",
    allow_private: "允许的私有地址",
    allow_public_bind: "允许监听公网地址",
    allowed_commands: "允许的命令",
    allowed_domains: "允许的域名",
    allowed_guilds: "允许的服务器",
    allowed_hosts: "允许的主机名",
    allowed_numbers: "允许的号码",
    allowed_rooms: "允许的房间",
    allowed_senders: "允许的发件人",
    allowed_targets: "允许的目标",
    allowed_users: "允许的用户",
    always: "始终允许",
    api_key: "API 密钥",
    api_token: "API 令牌",
    api_url: "API 地址",
    app_id: "应用 ID",
    app_secret: "应用密钥",
    app_token: "应用令牌",
    approvals: "审批",
    approvers: "审批人",
    auth_token: "认证令牌",
    authorization: "Authorization 请求头",
    authserv_id: "Authserv ID",
    autonomy: "自主程度",
    backend: "后端",
    base_url: "基础 URL",
    baud: "波特率",
    board: "开发板",
    boards: "开发板",
    bot_name: "机器人名称",
    bot_token: "机器人令牌",
    browser: "浏览器",
    callback_token: "回调令牌",
    choices: "可选模型",
    chromium_path: "Chromium 路径",
    client_id: "客户端 ID",
    client_max_actions_per_hour: "每个客户端每小时操作上限",
    client_max_cost_per_day: "每个客户端每日费用上限",
    client_secret: "客户端密钥",
    code_notice: "代码提示语",
    command: "命令",
    computer_use_api_key: "computer_use 的 API 密钥",
    computer_use_endpoint: "computer_use 端点",
    computer_use_windows: "computer_use 窗口",
    container_image: "容器镜像",
    cpu_secs: "CPU 时间（秒）",
    daemon: "服务进程",
    debounce_ms: "消抖时间（毫秒）",
    default_execution_mode: "默认执行模式",
    delivery: "投递",
    detect_voicemail: "检测语音信箱",
    device_id: "设备 ID",
    disabled: "已禁用",
    display_name: "显示名称",
    draft_update_interval_ms: "草稿更新间隔（毫秒）",
    drain_secs: "停止前等待（秒）",
    edge: "边沿",
    enabled: "启用",
    encrypt: "加密",
    encrypt_key: "加密密钥",
    expire_secs: "过期时间（秒）",
    file: "日志文件",
    filler: "等待语",
    filler_after_secs: "等待语延迟（秒）",
    firmware_dir: "固件文件夹",
    folder: "文件夹",
    forbidden_paths: "禁止的路径",
    from_number: "主叫号码",
    from_phone: "本方号码",
    gateway: "网络",
    gdb_server: "GDB 服务器",
    goodbye: "结束语",
    greeting: "问候语",
    hardware: "硬件",
    history_max_tokens: "历史令牌数上限",
    homeserver: "主服务器",
    host: "监听地址",
    i2c_buses: "I2C 总线",
    idempotency_max_keys: "幂等键数量上限",
    idempotency_ttl_secs: "幂等键有效期（秒）",
    idle_secs: "空闲时间（秒）",
    imap_host: "IMAP 服务器",
    imap_port: "IMAP 端口",
    imap_security: "IMAP 加密方式",
    input: "输入",
    input_per_million: "每百万输入令牌价格",
    instructions: "指令",
    invite: "邀请",
    jwks_url: "JWKS 地址",
    keys_notice: "按键提示语",
    label_filter: "标签筛选",
    language: "语言",
    level: "级别",
    log: "日志",
    mailbox: "邮箱文件夹",
    mark_seen: "标记为已读",
    max_actions_per_hour: "每小时操作上限",
    max_answers_per_hour: "每小时回复上限",
    max_attachment_mb: "附件大小上限（MiB）",
    max_attempts: "最大尝试次数",
    max_body_bytes: "请求体上限（字节）",
    max_bytes: "大小上限（字节）",
    max_call_secs: "通话时长上限（秒）",
    max_chars: "字符数上限",
    max_concurrent_total: "并发运行上限",
    max_cost_per_day: "每日费用上限",
    max_file_mb: "日志文件上限（MB）",
    max_files: "文件数量上限",
    max_output_tokens: "输出令牌数上限",
    max_parallel_turns: "并行轮次上限",
    max_retries: "最大重试次数",
    max_sessions: "对话数量上限",
    max_steps: "步骤数上限",
    memory_mb: "内存（MB）",
    mention_only: "仅在被提及时",
    message_days: "消息保留天数",
    method: "方法",
    mode: "模式",
    model: "模型",
    mqtt: "MQTT",
    name: "名称",
    native_headless: "无窗口模式",
    net: "私有地址",
    network: "网络访问",
    notification_target: "通知目标",
    oauth_token: "OAuth 令牌",
    observability: "可观测性",
    otel_endpoint: "OTLP 端点",
    otel_headers: "OTLP 请求头",
    otel_protocol: "OTLP 协议",
    otel_record_content: "记录内容",
    otel_sampling: "采样比例",
    otel_service_name: "服务名称",
    output_per_million: "每百万输出令牌价格",
    page_session_days: "页面登录保留天数",
    pair_phone: "配对手机号",
    password: "密码",
    path: "路径",
    per_client: "按客户端计数",
    peripherals: "外设",
    phone_number_id: "电话号码 ID",
    pids: "进程数",
    pin: "引脚",
    plugins: "插件",
    plugins_dir: "插件文件夹",
    policy: "策略",
    poll_interval_secs: "轮询间隔（秒）",
    port: "端口",
    price: "价格",
    prices: "价格",
    processed_mailbox: "已处理邮件文件夹",
    provider: "服务商",
    public_url: "公网 URL",
    pubsub_url: "Pub/Sub 地址",
    pull: "上下拉电阻",
    push_audience: "推送受众",
    push_service_account: "推送服务账号",
    rate_limit_max_keys: "限流客户端数上限",
    readable: "可读路径",
    receive_mode: "接收方式",
    recognizer: "语音识别",
    recovery_key: "恢复密钥",
    refresh_token: "刷新令牌",
    reprompt: "再次询问",
    require_authenticated: "要求发件人已验证",
    require_pairing: "要求配对",
    require_signatures: "要求签名",
    required: "强制要求",
    retention: "保留",
    ring_secs: "振铃时间（秒）",
    room_id: "房间 ID",
    rp_id: "依赖方 ID",
    rp_name: "依赖方名称",
    rp_origin: "依赖方来源",
    sandbox: "沙箱",
    save_sent: "保存已发送邮件",
    secret: "密钥",
    secrets: "密钥",
    security: "安全",
    session_days: "对话保留天数",
    session_path: "会话文件夹",
    sign_in: "允许登录",
    signing_secret: "签名密钥",
    silence_timeout_secs: "静默超时（秒）",
    slash_commands: "斜杠命令",
    smtp_host: "SMTP 服务器",
    smtp_port: "SMTP 端口",
    smtp_security: "SMTP 加密方式",
    sop: "流程",
    speaker: "发声方",
    speech_timeout_secs: "说话停顿（秒）",
    stream_mode: "流式显示方式",
    tenant_id: "租户 ID",
    thread_replies: "在线程中回复",
    timeout_secs: "超时（秒）",
    title_model: "标题模型",
    tls_ca: "CA 证书（PEM）",
    tls_ca_file: "CA 证书文件",
    token_url: "令牌地址",
    tool: "工具",
    tool_call_days: "工具调用保留天数",
    tool_timeout_secs: "等待审批时间（秒）",
    tools: "工具",
    topic: "主题",
    topics: "主题",
    transcription: "语音转写",
    transport: "连接方式",
    trust_forwarded_headers: "信任转发请求头",
    trusted_proxies: "可信代理",
    tts: "语音合成",
    turn_timeout_secs: "轮次超时（秒）",
    url: "URL",
    url_secret: "URL 密钥",
    use_feishu: "使用飞书",
    user_id: "用户 ID",
    username: "用户名",
    verification_token: "验证令牌",
    verified_callers_only: "仅限已验证来电",
    verify_token: "验证令牌",
    voice: "音色",
    watch: "监视的引脚",
    webauthn: "通行密钥",
    webhook: "Webhook",
    webhook_rate_limit_per_minute: "每分钟 Webhook 请求上限",
    webhook_secret: "Webhook 密钥",
    webhook_url: "Webhook 地址",
    workspace: "工作区",
    workspace_only: "仅限工作区",
    writable: "可写路径",
    item: "条目",
  },
  help: {
    'Program and arguments. It must speak the Agent Client Protocol, e.g. ["claude-code-acp"].':
      '程序及其参数；它使用 Agent Client Protocol，例如 ["claude-code-acp"]。',
    "Let agents start child agents.": "允许智能体启动子智能体。",
    "What one child agent may cost in US dollars, with those that it makes. Default: no limit.":
      "一个子智能体及其创建的子智能体的费用上限（美元）。默认不限。",
    "Tokens that one child agent may use, with those that it makes. Default: no limit.":
      "一个子智能体及其创建的子智能体可用的令牌数。默认不限。",
    "Calls of tools that one child agent may make, with those that it makes. Default: no limit.":
      "一个子智能体及其创建的子智能体可调用工具的次数。默认不限。",
    "Child agents with a process at the same time.": "同时拥有进程的子智能体数量。",
    "Nesting depth of child agents; 1: a child can't start children.": "子智能体可再创建子智能体的层数；1 表示不允许。",
    "Processes of one child agent; beyond that it is killed (Linux).": "一个子智能体的进程数；超过则终止（Linux）。",
    "Longest time for one prompt, in seconds.": "一个任务的最长时间（秒）。",
    "A child agent that runs without an event for this many seconds is killed.":
      "运行中这么多秒没有事件的子智能体会被终止。",
    "Programs that speak the Agent Client Protocol, by name. They run in the agent's sandbox.":
      "按名称列出的、使用 Agent Client Protocol 的程序。它们在智能体的沙箱中运行。",
    "Child agents in processes of their own": "独立进程中的子智能体",
    "Base URL of the homeserver's client API, such as https://matrix.example.org.":
      "主服务器客户端 API 的基础 URL，例如 https://matrix.example.org。",
    "Host name that passkeys are bound to: that of rp_origin, or a domain above it. Default: the host of rp_origin.":
      "通行密钥绑定的主机名：rp_origin 的主机名或其上级域名。默认：rp_origin 的主机名。",
    "Origin of the page on which people use passkeys. Default: gateway.public_url, else http://localhost.":
      "使用通行密钥的页面地址。默认：gateway.public_url；未设置时为 http://localhost。",
    "Transcription provider: OpenAI, an OpenAI-compatible service, or a program on this machine.":
      "由谁转写：OpenAI、具有相同接口的其他服务，或本机程序。",
    "Program and arguments for provider = command, started without a shell. {file} is the recording, {wav} the same as 16 kHz WAV. It writes the text.":
      "provider = command 时的程序和参数，不经 shell 启动：{file} 为录音，{wav} 为同一录音的 16 kHz WAV。程序输出文字。",
    "Speak answers: on phone calls, and in chats as set by reply.":
      "将回答转为语音：用于电话，聊天中则按 reply 的设置。",
    "Speech provider: OpenAI, an OpenAI-compatible service, or a program on this machine.":
      "由谁发声：OpenAI、具有相同接口的其他服务，或本机程序。",
    "Program and arguments for provider = command, started without a shell. It reads the text from standard input or from {text}, and writes WAV, Ogg or MP3.":
      "provider = command 时的程序和参数，不经 shell 启动：程序读取文字，或从 {text} 获取，并输出 WAV、Ogg 或 MP3。",
    "Which answers in chats are also spoken. voice: answers to voice messages.":
      "聊天中哪些回答除文字外还以语音发送。voice：对语音消息的回答。",
    'The same per channel, by its id: email = "always".': '对单个渠道的相同设置，按渠道 ID：email = "always"。',
    "Private key of the agent's account, nsec1… or 64 hexadecimal digits. Keep secrets.encrypt on.":
      "智能体账号的私钥，nsec1… 或 64 位十六进制数字。请保持 secrets.encrypt 开启。",
    "Relays that the account reads from and writes to, such as wss://relay.example.org.":
      "账号读取和写入的中继服务器，例如 wss://relay.example.org。",
    "Public keys (npub1… or 64 hexadecimal digits) that may write to the agent; * lets everyone. Empty: no one.":
      "可以给智能体发消息的公钥（npub1… 或 64 位十六进制数字）；* 表示所有人。留空：无人可以。",
    "Public keys that may answer approval requests in this channel. Default: none.":
      "可以在那里回答审批请求的人的公钥；不填则无人可以。",
    "Public key for notifications and approval requests.": "接收通知和审批请求的公钥。",
    "Public keys that the agent may write to with channel_send; * is any. People who wrote to the agent, and notification_target, need not be listed.":
      "智能体可以用 channel_send 发送的公钥；* 表示任意。给它写过消息的人和 notification_target 无需列出。",
    "GDB server of a debug probe, for the feature probe: OpenOCD, st-util or probe-rs. Default: svc starts OpenOCD, if it is installed, for each reading.":
      "调试器的 GDB 服务器，用于 probe 功能：OpenOCD、st-util 或 probe-rs。默认：每次读取时由 svc 启动已安装的 OpenOCD。",
    "OpenOCD script for the adapter and the board, used without gdb_server. Default: board/st_nucleo_f4.cfg.":
      "未设置 gdb_server 时，适配器和开发板所用的 OpenOCD 脚本。默认：board/st_nucleo_f4.cfg。",
    "Reading from which the pin counts as HIGH, in units of the board's converter. Setting it makes the pin analog.":
      "将其设为模拟引脚，从此读数起视为 HIGH，按开发板转换器的计数。",
    "Hysteresis: how far below `above` the reading must fall to count as LOW.": "读数需低于 `above` 多少才视为 LOW。",
    "Relay network: encrypted and gift-wrapped direct messages": "中继网络：加密封装的私信",
    "A container of podman or docker around commands": "用 podman 或 docker 容器运行命令",
    "A seatbelt profile around commands": "用 seatbelt 配置限制命令",
    "Browser tool in process, driving an installed Chromium": "内置浏览器工具，驱动已安装的 Chromium",
    "Browser tool through a computer-use service": "通过 computer-use 服务的浏览器工具",
    "Browser tool through the agent-browser program (the default backend)":
      "通过 agent-browser 程序的浏览器工具（默认后端）",
    "Discord bot, by its gateway connection": "Discord 机器人，通过网关连接",
    "E-mail: IMAP in, SMTP out": "电子邮件：IMAP 接收，SMTP 发送",
    "Federated chat with end-to-end encryption, drafts by edits and voice transcription":
      "端到端加密的联邦聊天，支持编辑式草稿和语音转写",
    "Fetches a URL through the guarded client": "通过受保护的客户端获取 URL",
    "GET /metrics in text format": "文本格式的 GET /metrics",
    "GPIO of the Raspberry Pi it runs on": "所在 Raspberry Pi 的 GPIO",
    "I2C, SPI and GPIO through an Aardvark adapter, and I2C of this computer":
      "通过 Aardvark 适配器使用 I2C、SPI 和 GPIO，以及本机 I2C",
    "Kernel-enforced file system rules around commands (Linux 5.13 or newer)":
      "由内核对命令强制执行文件系统规则（Linux 5.13 或更新版本）",
    "Lark and Feishu apps, by long connection or callback": "Lark 和飞书应用，通过长连接或回调",
    "Live chip information and memory over USB/SWD": "通过 USB/SWD 实时读取芯片信息和内存",
    "Mailpush: web mail by push notifications": "Mailpush：通过推送通知接收网页邮件",
    "Passkeys at the gateway": "网关上的通行密钥",
    "Procedures started by messages of an MQTT broker": "由 MQTT 消息启动的流程",
    "Procedures started by pins of boards": "由开发板引脚启动的流程",
    "Provider A: cloud messaging API, by webhook": "服务商 A：云端消息 API，通过 Webhook",
    "Provider B: partner API for iMessage, RCS and SMS, by webhook":
      "服务商 B：iMessage、RCS 和短信的合作伙伴 API，通过 Webhook",
    "Provider C: hosted business-chat API, by webhook": "服务商 C：托管的商务聊天 API，通过 Webhook",
    "Provider D: chat bot of a self-hosted collaboration suite, by webhook":
      "服务商 D：自托管协作套件的聊天机器人，通过 Webhook",
    "Reads, writes and lists files in the workspace": "读取、写入和列出工作区中的文件",
    "Replies and notifications posted to a URL of the operator's": "将回复和通知发送到操作员自己的 URL",
    "Runs a shell command in the sandbox": "在沙箱中运行 shell 命令",
    "Slack app, by Socket Mode or the Events API": "Slack 应用，通过 Socket Mode 或 Events API",
    "Telegram bot, by long polling or webhook": "Telegram 机器人，通过长轮询或 Webhook",
    "Telephone calls by a programmable-voice platform": "通过可编程语音平台拨打和接听电话",
    "Text of PDF files": "PDF 文件的文本",
    "Tools from WASM plugins, and the plugin commands": "WASM 插件提供的工具，以及插件命令",
    "Traces by OTLP over HTTP": "通过 HTTP 的 OTLP 追踪",
    "USB and serial board registry, GPIO and serial tools": "USB 与串口开发板登记，GPIO 和串口工具",
    "What is known of the configured boards, and data sheets": "已配置开发板的资料和数据手册",
    "bubblewrap (user namespaces) around commands": "用 bubblewrap（用户命名空间）限制命令",
    "firejail around commands": "用 firejail 限制命令",
    "A change is in force after a restart.": "更改在重启后生效。",
    "Tokens of history sent with a turn; the oldest turns are dropped whole.":
      "随每个轮次发送的历史令牌数；最早的轮次会整个舍弃。",
    "System prompt of the agent.": "每次对话开始前告诉智能体的内容。",
    "US dollars that an agent may spend per day (UTC) for one client: a device, a person of a channel, the terminal, the procedures, or all callers without a token. Default: max_cost_per_day.":
      "智能体每天（UTC）可为一个客户端花费的美元：一台设备、一个频道用户、终端、流程，或所有无令牌的调用方。默认：max_cost_per_day。",
    "The cost per day also counts per client; false: only the agent's total counts.":
      "每日费用也按客户端计数；false：只计智能体的总数。",
    "As in [agent].": "同 [agent]。",
    "Acting tool calls allowed per hour for one client; 0: no limit of its own. Default: max_actions_per_hour.":
      "每小时允许一个客户端的执行类工具调用次数；0：不单独限制。默认：max_actions_per_hour。",
    "The actions also count per client; false: only the agent's total counts.":
      "执行次数也按客户端计数；false：只计智能体的总数。",
    "US dollars that an agent may spend per day (UTC). Requires the price of its model.":
      "一个智能体每天（UTC）最多花费的美元数。需要设置其模型的价格。",
    "Turns at the same time, over all conversations.": "所有对话中同时进行的轮次数。",
    "Most model calls in one turn.": "一个轮次中最多的模型调用次数。",
    "Titles new conversations while no turn runs: model.name or one of model.choices. Default: their first words.":
      "在没有轮次进行时为新对话起标题：model.name 或 model.choices 之一。默认：开头的文字。",
    "Seconds a turn may run; waiting for an approval does not count.": "一个轮次可以运行的秒数；等待人的时间不计。",
    "System prompt of this agent.": "每次对话开始前告诉此智能体的内容。",
    "Other models of this provider that people may choose in a conversation with the agent.":
      "在与它的对话中可以选择的同一服务商的其他模型。",
    "Retries of a failed model call.": "模型调用失败后的重试次数。",
    "Another provider. It inherits nothing from [model], least of all the key.":
      "另一个服务商；此时不会沿用 [model] 的任何内容，尤其是密钥。",
    "As in [security.policy].": "同 [security.policy]。",
    "Tools of the agent. Default: all.": "它拥有的工具；不写此行则拥有全部工具。",
    "Working directory of this agent, absolute or below the home.": "它自己的工作目录，绝对路径或主目录下的路径。",
    "Seconds after which an unanswered approval request expires.": "审批请求无人回答时，经过多少秒后作废。",
    "Seconds to wait for an approval before the call is refused.": "在拒绝所请求的调用之前，等待人回答的秒数。",
    "Path of agent-browser. Default: found on the PATH.": "agent-browser 程序。默认：PATH 中的程序。",
    "Hosts that pages and their resources may load from: example.com, *.example.com with all subdomains, an address, or * for every public host. Empty: none.":
      "页面及其内容可以来自的主机：example.com，或 *.example.com（含所有子域名），或某个地址，或 * 表示所有公网主机。留空：全不允许。",
    "Browser backend: the program agent-browser, svc itself (native), or the service at computer_use_endpoint.":
      "由谁驱动：agent-browser 程序、svc 自身（native），或 computer_use_endpoint 处的服务。",
    "Path of the Chromium to start. Default: the installed one.": "要启动的 Chromium。默认：已安装的版本。",
    "URL that takes the actions of the backend computer_use.": "接收 computer_use 后端操作的 URL。",
    "Titles of windows that the agent may act in. Empty: the browser's own.":
      "允许操作的窗口标题。留空：仅浏览器自己的窗口。",
    "Give agents a browser.": "智能体可以使用浏览器。",
    "Seconds of inactivity after which a conversation's browser is closed.": "对话的浏览器在多少秒没有调用后关闭。",
    "Run the native browser without a window.": "内置浏览器不显示窗口。",
    "Reaction that marks a message while it is being answered; blank: none.":
      "回答期间用来标记消息的回应；留空则不标记。",
    "Ids of the servers to listen in. Default: all servers that the bot was invited to.":
      "要监听的服务器 ID；不填则为机器人受邀加入的所有服务器。",
    "Ids of users that may write to the agent; * lets everyone.": "可以给智能体发消息的用户 ID；* 表示所有人。",
    "Base URL of the platform's API. Change it for a proxy or a test.":
      "平台 API 的基础 URL；使用代理或测试时可改为其他地址。",
    "Token of the bot, without the word Bot in front.": "机器人的令牌，不含前面的 Bot 字样。",
    "Least milliseconds between two edits of an answer.": "同一回答两次编辑之间的最短毫秒数。",
    "Set to false to turn the feature off and keep its settings.": "设为 false 可关闭该功能并保留其设置。",
    "On a server, only messages that mention the bot or its role, or reply to it, reach the agent.":
      "在服务器中，只有提到机器人或其角色、或回复其消息的内容才会送达智能体。",
    "Register /new, /model, /status, /stop and /help with the platform.":
      "向平台注册 /new、/model、/status、/stop 和 /help。",
    "partial: send the beginning of an answer and edit it as it grows. multi_message: send each paragraph once it is complete.":
      "partial：回答一开始就发送，并随生成不断编辑。multi_message：每个段落完成后立即发送。",
    "In a thread that the bot opened or was mentioned in, answer without further mentions.":
      "由机器人发起或提到过机器人的线程，无需再次提及。",
    "OAuth access token (XOAUTH2), instead of a password. It expires soon without a refresh token.":
      "OAuth 访问令牌（XOAUTH2），代替密码。没有刷新令牌时很快过期。",
    "Mail address of the agent; answers come from it.": "我们的邮件地址：回复由此发出。",
    "Addresses, domains or @domains that may write to the agent; * lets everyone.":
      "可以给智能体写信的地址、域名或 @域名；* 表示所有人。",
    "Name of the mail server in its Authentication-Results headers. Without it, svc trusts the topmost of these headers.":
      "该服务器写入 Authentication-Results 时使用的名称；不填则以最上面的那个头为准，不论来自谁。",
    "OAuth client of refresh_token.": "refresh_token 对应的 OAuth 客户端。",
    "Secret of the OAuth client.": "OAuth 客户端的密钥。",
    "Display name.": "随之显示的名称。",
    "IMAP server for incoming mail.": "读取邮件的 IMAP 服务器。",
    "Its port; default: 993, or 143 without TLS from the start.": "其端口；默认：993，若一开始不使用 TLS 则为 143。",
    "tls: implicit TLS. starttls: upgrade first, or close the connection. none: only for this machine or an address in security.net.allow_private. Default: tls; on port 143, starttls.":
      "tls：一开始就加密。starttls：在发送任何其他内容之前要求加密，否则断开连接。none：仅限本机或 security.net.allow_private 中的地址。默认：tls，端口为 143 时为 starttls。",
    "Mailbox to read, as the server names it.": "要读取的邮箱文件夹，使用服务器上的名称。",
    "Mark mail as read when its turn begins.": "开始处理时将邮件标记为已读。",
    "Mails of one thread per hour beyond which svc assumes a mail loop and stops answering; 0: no limit.":
      "一小时内同一线程的邮件过多视为两个程序的循环，不再回复；0 表示不限。",
    "Largest file, incoming or outgoing, in MiB.": "双向文件的大小上限，单位 MiB。",
    "Password of the mailbox, or an app password. Not needed with a token.":
      "邮箱密码或应用专用密码。使用令牌时不需要。",
    "Seconds between polls of a server without IDLE.": "服务器无法通知新邮件（IDLE）时，两次检查之间的秒数。",
    "Mailbox that answered mail is moved to. It must exist.": "回复后将邮件移动到的文件夹。该文件夹必须已存在。",
    "Refresh token. svc uses it to get access tokens.": "刷新令牌，用来在需要时获取访问令牌。",
    "Answer only mail whose sender's domain the receiving server has verified by DMARC, DKIM or SPF. Without it, anyone who knows an allowed address, or an approver's, can write in its name.":
      "只有接收服务器通过 DMARC、DKIM 或 SPF 确认邮件确实来自所声称的域名时才会回复。否则，任何知道受信任地址的人都可以冒名写信，包括冒充审批人。",
    "Mailbox for sent answers: off, auto (the server's mailbox for sent mail), or a name.":
      "回复的保存位置：off、auto（服务器标明的已发送文件夹），或某个文件夹名称。",
    "SMTP server for outgoing mail.": "发送回复的 SMTP 服务器。",
    "Its port; default: 465, or 587 without TLS from the start.": "其端口；默认：465，若一开始不使用 TLS 则为 587。",
    "Like imap_security. Default: tls; on ports 587 and 25, starttls.":
      "同 imap_security。默认：tls，端口为 587 和 25 时为 starttls。",
    "PEM file of certificate authorities to trust for both servers, instead of the system's.":
      "证书颁发机构的 PEM 文件，两台服务器的证书可由其签发，代替系统默认的机构。",
    "Endpoint that exchanges the refresh token.": "用刷新令牌换取令牌的地址。",
    "Name to sign in with; default: address.": "登录名；默认：address。",
    "Access token of the account's device. Without it, password and `svc channels setup federated`.":
      "该账号设备的访问令牌。不填则使用 password 和 `svc channels setup federated`。",
    "Rooms in which messages are answered, by id or alias; * is any. Default: room_id if set, else any.":
      "会回复消息的房间，填 ID 或别名；* 表示任意房间。默认：设置了 room_id 时为该房间，否则为任意房间。",
    "People, by user id, that may write to the agent; * lets everyone.":
      "可以给智能体发消息的人，填用户 ID；* 表示所有人。",
    "Device of the access token. Default: svc asks the homeserver.": "访问令牌所属的设备。不填则询问主服务器。",
    "allowed: invitations from allowed_users to allowed_rooms are accepted. never: none is.":
      "allowed：接受 allowed_users 发来的、加入 allowed_rooms 的邀请。never：一律不接受。",
    "In rooms with more than two members, answer only messages that mention the account or reply to it.":
      "在超过两名成员的房间中，只回复提到该账号或回复它的消息。",
    "Password of the account. `svc channels setup federated` logs in with it and stores the token.":
      "账号密码。`svc channels setup federated` 用它登录并保存令牌。",
    "Recovery key of the account: opens its cross-signing keys and its key backup.":
      "账号的恢复密钥：用于打开其交叉签名密钥和密钥备份。",
    "Room to join at start, by id or alias. Notifications go there by default.":
      "启动时加入的房间，填 ID 或别名。通知默认发送到这里。",
    "User id of the account, such as @svc:example.org. Required with password.":
      "账号，例如 @svc:example.org。使用 password 时必填。",
    "Turns the channel on.": "只有设为 true 时渠道才会开启。",
    "URL of the keys that verify those tokens.": "这些令牌的公钥所在地址。",
    "Labels, by name or id; mail with any of them is read. Empty: all mail except spam and sent mail.":
      "标签名称或 ID；带有其中任一标签的邮件会被读取。留空：除垃圾邮件和已发送外的所有邮件。",
    "Access token of the mailbox. It expires after an hour unless the three keys of the refresh token are set.":
      "邮箱的访问令牌。未设置刷新令牌的三个键时，一小时后过期。",
    "Base URL of Pub/Sub's API, for the set-up.": "Pub/Sub API 的基础 URL，用于初始设置。",
    "Audience of the tokens that sign Pub/Sub's pushes.": "Pub/Sub 为推送签名时所用令牌的受众。",
    "Address of the service account that signs Pub/Sub's pushes.": "Pub/Sub 为推送签名时所用服务账号的地址。",
    "Refresh token of the mailbox. svc uses it to get access tokens.": "邮箱的刷新令牌，用来在需要时获取访问令牌。",
    "Endpoint that exchanges a refresh token.": "用刷新令牌换取令牌的地址。",
    "Pub/Sub topic that the mailbox notifies of new mail.": "邮箱通知新邮件的 Pub/Sub 主题。",
    "Bearer secret that a push may present. Pub/Sub signs its pushes instead: see push_audience.":
      "推送可以携带的 Bearer 密钥。Pub/Sub 本身不支持，它使用签名：见 push_audience。",
    "URL for the push subscription; default: gateway.public_url and the path.":
      "推送订阅的 URL；默认：gateway.public_url 加路径。",
    "Access token of the Cloud API. Cloud mode needs it.": "Cloud API 的访问令牌。Cloud 模式需要。",
    "Phone numbers with country code, or user ids of people who hide their number, that may write to the agent; * lets everyone.":
      "可以给智能体发消息的电话号码（含国家代码），或隐藏号码者的用户 ID；* 表示所有人。",
    "App secret with which the platform signs deliveries. Without it, anyone can forge them.":
      "应用密钥，平台用它为投递签名。没有它，任何人都可以伪造投递。",
    "Web mode: kind of the linked account.": "Web 模式：所关联账号的类型。",
    "Web mode: phone number to link by a code; without it by a QR code.":
      "Web 模式：用配对码关联的手机号；不填则使用二维码。",
    "Id of the business phone number. Setting it selects Cloud mode.": "商业电话号码的 ID；填写后即选择 Cloud 模式。",
    "Folder of the linked session; selects Web mode.": "已关联会话的文件夹；选择 Web 模式。",
    "Verify token of the callback URL; enter the same on the platform. Required in Cloud mode.":
      "平台验证回调 URL 时必须提供的内容：请在平台上也填入。Cloud 模式需要。",
    "Phone numbers or mail addresses that may write to the agent; * lets everyone.":
      "可以给智能体发消息的电话号码或邮件地址；* 表示所有人。",
    "Token of the partner API.": "合作伙伴 API 的令牌。",
    "Your line, as + and digits; new chats start from it.": "你在那里的线路，以 + 和数字表示：新聊天由它发起。",
    "Secret of the webhook subscription. Without it, anyone can forge deliveries.":
      "Webhook 订阅的密钥。没有它，任何人都可以伪造投递。",
    "Phone numbers that may write to the agent; * lets everyone.": "可以给智能体发消息的电话号码；* 表示所有人。",
    "Bearer token of the API.": "API 的 Bearer 令牌。",
    "API address that the platform shows for your account, without the account's number.":
      "平台为你的账号给出的地址，不含账号编号。",
    "Token at the end of the callback URL (?token=…). The platform doesn't sign its callbacks; without the token, anyone could post.":
      "在回调 URL 末尾加上 ?token= 和此值：平台不签名，否则任何人都可以发送。",
    "Name or number of the line that answers, if the account has several.":
      "账号有多条线路时，负责应答的线路名称或号码。",
    "Expected hub.verify_token of a GET of the callback URL.":
      "对回调 URL 的 GET 请求必须以 hub.verify_token 提供的内容。",
    "User ids that may write to the agent; * lets everyone.": "可以给智能体发消息的用户 ID；* 表示所有人。",
    "URL for API calls, if it differs from base_url (a proxy).": "调用 API 的地址；没有代理时为 base_url。",
    "Shared secret of the bot, as passed to talk:bot:install. It signs answers unless webhook_secret is set.":
      "机器人的共享密钥，与 talk:bot:install 中一致；未设置 webhook_secret 时用于签名回答。",
    "Address of the Nextcloud server, as people open it.": "Nextcloud 服务器的地址，即人们打开它的地址。",
    "Display name of the bot. Messages from an account of this name are ignored. Blank: no such rule.":
      "机器人的显示名称：此名称的人所写的内容不会得到回答。留空：不使用此规则。",
    "Shared secret that checks deliveries and signs answers. 40 to 128 characters.":
      "同一共享密钥：校验投递并为回答签名。40 到 128 个字符。",
    "Emoji that marks a message while it is being answered; blank: none.":
      "回答期间用来标记消息的表情名称；留空则不标记。",
    "User ids (U…) that may write to the agent; * lets everyone.": "可以给智能体发消息的用户 ID（U…）；* 表示所有人。",
    "App-level token with connections:write (xapp-…). Socket Mode needs it.":
      "带有 connections:write 的应用级令牌（xapp-…）。Socket Mode 需要。",
    "Bot token of the app (xoxb-…).": "应用的机器人令牌（xoxb-…）。",
    "In channels, answer only messages that mention the bot, or threads that it takes part in.":
      "在频道中，只回答提到机器人的人，或在其参与的线程中发言的人。",
    "socket: svc connects to the platform. events: the platform posts to svc; requires a public URL.":
      "socket：由我们连接平台。events：平台向我们推送，需要公网 URL。",
    "Secret with which the platform signs its posts. Required in the mode events.":
      "平台为其推送内容签名所用的密钥。events 模式需要。",
    "In channels, answer in a thread under the message.": "在频道中，以消息下的线程形式回复。",
    "People, by their numeric id or @username, that may write to the agent; * lets everyone.":
      "可以给智能体发消息的人，填数字 ID 或 @用户名；* 表示所有人。",
    "Token of the bot, from @BotFather.": "机器人的令牌，由 @BotFather 提供。",
    "In groups, answer only messages that mention the bot, reply to it or are one of its commands.":
      "在群组中，只回答提到机器人、回复它或向它发出的命令。",
    "polling: svc polls the platform. webhook: the platform posts to /telegram.":
      "polling：svc 向平台查询消息。webhook：平台把消息发送到 /telegram。",
    "Secret that the platform sends with each post. Required in webhook mode.":
      "平台推送时用来证明身份的内容。webhook 模式需要。",
    "Account SID, from the platform's console.": "平台控制台中的 Account SID。",
    "Phone numbers with country code that may write to the agent; * lets everyone.":
      "可以给智能体发消息的电话号码（含国家代码）；* 表示所有人。",
    "Auth token of the account. svc sends it with requests, and the platform signs its requests with it.":
      "账号的 Auth Token：用于发起请求，平台也用它为自己的请求签名。",
    "Spoken instead of a block of code.": "用来代替代码块的话。",
    "On voicemail, wait for the end of the greeting before speaking.": "在语音信箱中，等问候语结束后再开始说话。",
    "Spoken when an answer takes some seconds; blank: nothing.": "回答需要几秒钟时说的话；留空：不说。",
    "Seconds without an answer before the filler is spoken.": "多少秒没有回答后说等待语。",
    "Phone number of the account, such as +15551234567, for incoming and outgoing calls.":
      "账号的电话号码，例如 +15551234567：人们拨打此号码，外呼也使用它。",
    "Spoken before hanging up.": "挂断前说的话。",
    "Greeting for callers.": "来电者最先听到的话。",
    "Spoken after a question that is answered by a key; {approve} and {reject} stand for the answers.":
      "按键作答的问题之后说的话；{approve} 和 {reject} 代表两种答案。",
    "Language to speak and recognise, such as en-US.": "通话使用的语言，例如 zh-CN。",
    "Longest call, in seconds.": "通话的最长秒数。",
    "Speech recognition: the platform's, or [transcription] from recordings.":
      "由谁识别来电者的话：平台的语音识别，或用 [transcription] 转写录音。",
    "Spoken once to a silent caller.": "来电者不说话时提示一次的话。",
    "Seconds to let the phone ring on an outgoing call.": "外呼时让电话振铃的秒数。",
    "Seconds of silence after which a caller is asked again; after the next silence the call ends.":
      "静默多少秒后再询问一次，之后挂断。",
    "Voice: auto uses [tts] if it is on, else the platform's voice.":
      "由谁发声：auto 表示开启 [tts] 时使用它，否则使用平台的语音。",
    "Seconds of silence that end a caller's message; 0: the recogniser decides.":
      "静默多少秒视为来电者说完；0：由语音识别决定。",
    "Accept only calls whose number is verified by the caller's network (STIR/SHAKEN); other numbers can be forged.":
      "只接听由运营商担保号码真实的来电（STIR/SHAKEN）；否则号码可能被伪造。",
    "Voice, as the platform names it. Default: the platform's default for the language.":
      "平台语音的名称。默认：该语言的标准语音。",
    "Public URL of this service for the platform, without /voice-call. Default: gateway.public_url.":
      "平台访问此服务的地址，不含 /voice-call。默认：gateway.public_url。",
    "Name of the agent that answers. Default: the default agent.": "负责回答的智能体名称；不填则为默认智能体。",
    "Chats, rooms or addresses that the agent may write to with channel_send; * is any. People who wrote to the agent, and notification_target, need not be listed.":
      "智能体可以用 channel_send 发送的聊天、房间或地址；* 表示任意。给它写过消息的人和 notification_target 无需列出。",
    "Accounts that may answer approval requests in this channel, written as in its allowlist. Default: none.":
      "可以在那里回答审批请求的人，写法与允许名单相同；不填则无人可以。",
    "Value of the Authorization header, e.g. Bearer and a token.":
      "作为 Authorization 请求头发送，例如 Bearer 加令牌。",
    "How they are posted.": "发送方式。",
    "Chat, room or address for notifications and approval requests.": "接收通知和审批请求的聊天、房间或地址。",
    "Secret that callers of POST /webhook send as X-Webhook-Secret.":
      "POST /webhook 的调用方以 X-Webhook-Secret 发送的值。",
    "Key of the Standard Webhooks signature that POST /webhook requires.":
      "POST /webhook 所要求的 Standard Webhooks 签名密钥。",
    "Seconds to wait for the answer before a retry.": "等待应答的秒数，之后重试。",
    "URL to post messages to; blank: none are posted.": "消息发送到的地址；不填或留空则不发送。",
    "Key for the Standard Webhooks signature of posted messages. Without it, they are not signed.":
      "所发送内容的 Standard Webhooks 签名密钥。没有它则不签名。",
    "Reaction that acknowledges a message, such as OK; blank for none. Default: one that suits the language of the message.":
      "用来确认消息的回应，例如 OK；留空则不使用。默认：适合消息语言的回应。",
    "Open IDs of users (ou_…) that may write to the agent; * lets everyone.":
      "可以给智能体发消息的用户 Open ID（ou_…）；* 表示所有人。",
    "App ID of the app (cli_…).": "应用的 App ID（cli_…）。",
    "App Secret of the app.": "应用的 App Secret。",
    "Encrypt Key of the app, to decrypt callbacks and check their signatures.":
      "应用的 Encrypt Key：用于解密回调并校验其签名。",
    "In groups, only messages that mention the bot, or reply to its questions, reach the agent.":
      "在群组中，只有提到机器人或回复其问题的消息才会送达智能体。",
    "websocket: svc connects to the platform. webhook: the platform posts to svc; requires a public HTTPS URL.":
      "websocket：由 svc 连接平台。webhook：平台向 svc 推送，需要公网 HTTPS URL。",
    "The app is a Feishu app. Legacy: use [channels_config.workchat_cn].":
      "该应用属于飞书。旧设置：请使用 [channels_config.workchat_cn]。",
    "Verification Token of the app, which each callback must carry.": "应用的 Verification Token，每次回调都必须携带。",
    "Seconds that running turns get to finish at shutdown.": "停止时留给进行中轮次完成的秒数。",
    "Attempts to send a message before it becomes a dead letter, and to answer one while the model is down.":
      "消息在成为无法投递之前的发送尝试次数，以及模型不可用时的回答尝试次数。",
    "Allow listening on an address that other machines can reach.": "允许监听其他机器可以访问的地址。",
    "Host names served besides IP literals, localhost and the host of public_url.":
      "除 IP 地址、localhost 和 public_url 的主机外，还可使用的主机名。",
    "Address to listen on. Anything but loopback needs allow_public_bind.":
      "监听的地址。回环地址以外的地址需要 allow_public_bind。",
    "Most idempotency keys kept, at least 1; the oldest goes first.": "保留的幂等键数量上限，至少为 1；最早的先移除。",
    "Seconds during which a repeated idempotency key counts as a duplicate.": "重复的幂等键在多少秒内视为重复请求。",
    "Largest request body in bytes.": "请求体的大小上限，单位字节。",
    "Days of inactivity after which a page is signed out.": "页面多少天没有请求后退出登录。",
    "TCP port; 0 takes a free one.": "TCP 端口；0 表示任选空闲端口。",
    "The HTTPS URL that providers call.": "供服务商调用的 HTTPS URL。",
    "Most clients tracked by the limiter; the least recent is dropped first. 0: the default.":
      "限流器跟踪的客户端数量上限；最久未活动的先移除。0 为默认值。",
    "POST /webhook requires a bearer token from pairing.": "POST /webhook 需要配对所得的 Bearer 令牌。",
    "Refuse webhooks without a configured secret instead of trusting them.":
      "未配置密钥的 Webhook 会被拒绝，而不是信任。",
    "Read the client's address from X-Forwarded-For / X-Real-IP of a trusted proxy.":
      "从可信代理的 X-Forwarded-For / X-Real-IP 获取客户端地址。",
    "Peers whose forwarding headers count: addresses or CIDR ranges.": "其转发请求头有效的对端：地址或 CIDR 范围。",
    "Requests per minute and client on /webhook; 0: no limit.": "每个客户端每分钟对 /webhook 的请求数；0 表示不限。",
    "Vendor library for Aardvark adapters, such as /opt/aardvark/aardvark.so. Default: the usual paths.":
      "Aardvark 适配器的厂商库，例如 /opt/aardvark/aardvark.so。默认：常用路径。",
    "Detect connected boards and give agents tools for them.": "查找已插入的开发板，并为智能体提供相应工具。",
    "Folder of firmware images for pico_flash, absolute or below the home.":
      "pico_flash 的固件映像文件夹，绝对路径或主目录下的路径。",
    "I2C buses of this computer for the I2C tools, such as /dev/i2c-1.":
      "I2C 工具可以使用的本机 I2C 总线，例如 /dev/i2c-1。",
    "Also write the log to the logs folder of the home; svc logs shows it.":
      "同时将日志保存在主目录的 logs 文件夹中；用 svc logs 查看。",
    "Lowest level to write.": "写入的最低级别。",
    "Size in megabytes at which a log file is rotated.": "日志文件达到多少兆字节后换新文件。",
    "Log files kept, the current one included.": "保留的日志文件数，包括当前文件。",
    "API key of the provider.": "服务商的 API 密钥。",
    "API base URL; required for openai-compatible.": "API 的基础 URL；openai-compatible 必填。",
    "Other models of the same provider that people may choose in a conversation, by /model.":
      "同一服务商的其他模型，可在对话中用 /model 选择。",
    "Maximum tokens of one answer.": "一次回答的令牌数上限。",
    "Retries of a failed model call, with back-off.": "模型调用失败后的重试次数，间隔逐渐延长。",
    "Model name as the provider spells it.": "模型名称，按服务商的写法。",
    "US dollars for a million input tokens.": "每百万输入令牌的美元价格。",
    "US dollars for a million output tokens.": "每百万输出令牌的美元价格。",
    "Model provider. builtin needs no key and no network.": "由谁回答。builtin 不需要密钥和网络。",
    "Client id, under which the broker keeps the session while svc is down. It must be unique. Default: generated at the first start and kept.":
      "svc 停止期间由代理服务器保留的会话名称。每个客户端需要自己的名称。默认：首次启动时生成并保留。",
    "Password of that user.": "该用户的密码。",
    "PEM file of certificate authorities to trust for the broker, instead of the system's.":
      "证书颁发机构的 PEM 文件，代理服务器的证书可由其签发，代替系统默认的机构。",
    "Topic filters to subscribe to, with QoS 1. Triggers see only messages that match one of them.":
      "以 QoS 1 订阅的主题过滤器。流程的触发器只会看到匹配其中之一的消息。",
    "Address of the broker. mqtts:// is encrypted; mqtt:// is refused for public addresses. Default ports: 1883 and 8883.":
      "代理服务器的地址。mqtts:// 为加密连接；公网地址不接受 mqtt://。默认端口：1883 和 8883。",
    "User name at the broker.": "代理服务器的用户名。",
    "Where observations go: none (none, noop), the log (a line for each turn and delivery), GET /metrics, or an OTLP collector (otel, opentelemetry, otlp).":
      "如何观测：不观测（none、noop），每个轮次和投递写一行日志，GET /metrics，或通过 OTLP 输出追踪（otel、opentelemetry、otlp）。",
    "Base URL of the OTLP/HTTP collector; /v1/traces is added.": "OTLP/HTTP 收集器的基础 URL；会自动加上 /v1/traces。",
    "Headers for the collector, e.g. authorization=Bearer%20token; values percent-encoded.":
      "发送给收集器的请求头，例如 authorization=Bearer%20token；值使用百分号编码。",
    "Encoding of traces; every collector accepts the first.": "追踪的编码方式；所有收集器都支持第一种。",
    "Record messages, prompts and tool results in traces, too.": "在追踪中同时记录人、模型和工具的内容。",
    "Share of traces to record, 0 to 1.": "记录的追踪比例，0 到 1。",
    "Service name in the traces.": "追踪中显示的服务名称。",
    "Boards that svc uses, besides those that [hardware] finds.": "svc 使用的开发板，不含通过 [hardware] 自动找到的。",
    "Baud rate of the serial port. Default: the protocol's.": "串口波特率。默认：取决于开发板的协议。",
    "Board type, such as raspberry-pi-pico, arduino-uno or esp32. The alias begins with it.":
      "开发板类型，例如 raspberry-pi-pico、arduino-uno 或 esp32。别名以它开头。",
    "Serial port, such as /dev/serial/by-id/usb-…, or tcp://127.0.0.1:9999 of a bridge.":
      "串口，例如 /dev/serial/by-id/usb-…，或网桥的 tcp://127.0.0.1:9999。",
    "serial: a serial port. bridge: JSON lines over TCP. native: the pins of this computer.":
      "serial：串口。bridge：基于 TCP 的 JSON 行。native：本机引脚。",
    "Pins whose changes start procedures.": "变化时会启动流程的引脚。",
    "Debounce: how long a level must last before it counts.": "电平需要持续多久才算有效。",
    "Edge that counts as a signal.": "哪种变化视为信号。",
    "Name of the signal in a trigger. Default: gpio and the number of the pin.":
      "触发器中的信号名称。默认：gpio 加引脚编号。",
    "Number of the pin, as the board numbers them.": "引脚编号，按开发板的编号方式。",
    "Pull resistor of the input.": "输入端的上下拉电阻。",
    "Use the boards listed here.": "使用这里列出的开发板。",
    "Give agents the tools of installed plugins.": "智能体可以使用已安装插件的工具。",
    "Folder of the plugins, absolute or below the home.": "插件文件夹，绝对路径或主目录下的路径。",
    "Most conversations kept, the most recent first; 0 keeps all.": "保留的对话数量上限，最新的优先；0 表示全部保留。",
    "Days to keep answered channel messages and their files.": "渠道消息及其文件在回答后保留的天数。",
    "Days after its last turn until a conversation is deleted; 0: never.":
      "对话在最后一个轮次后保留的天数；0 表示全部保留。",
    "Days to keep the journal of tool calls.": "工具调用记录保留的天数。",
    "Encrypt the secrets of this file with the key file of the home.": "用主目录的密钥文件加密保存此文件中的密钥。",
    "host:port pairs on private addresses that outgoing requests may reach.": "出站请求可以访问的私有地址 host:port。",
    "Commands that shell may run without an approval; * is every command. Listing a program trusts all its options: prefer `git log` to `git`.":
      "shell 可以不经询问运行的命令；* 表示所有命令。列出程序即信任其选项：建议写 `git log` 而不是 `git`。",
    "Tool calls that run without an approval, exactly as a person approved them with `Always allow`. svc approvals rules lists them, svc approvals revoke removes one.":
      "不经询问即可运行的调用，与人用 `Always allow` 批准的完全一致。svc approvals rules 列出它们，svc approvals revoke 取消其中一项。",
    "Agent that makes the call.": "发起调用的智能体。",
    "Command line, for tools that run one. It is compared word by word.": "运行命令的工具的命令行。逐词比较。",
    "Working directory of the command, relative to the workspace. Default: its root.":
      "命令运行的位置，相对于工作区。默认：工作区根目录。",
    "All other arguments of the call, as JSON.": "调用的其他所有参数，JSON 格式。",
    "Name of the tool.": "所调用的工具。",
    "read_only refuses acting tools, supervised asks for approval, full runs them.":
      "read_only 拒绝会执行操作的工具，supervised 先询问人，full 直接运行。",
    "Paths that file tools must not touch, absolute or relative to the workspace.":
      "文件工具不得触碰的路径，绝对路径或相对于工作区。",
    "Acting tool calls allowed per hour; 0: no limit.": "每小时允许的操作调用数；0 表示不限。",
    "File tools stay inside the workspace.": "文件工具只在工作区内操作。",
    "Sandbox backend. auto: the strongest available. none: no confinement.":
      "auto 选择可用的最强方式；none 不作任何限制。",
    "Image of the container backend. It must exist on this machine; svc never pulls images. Default: debian:stable-slim.":
      "容器后端的镜像。必须已在本机：不会自动下载。默认：debian:stable-slim。",
    "Seconds of processor time of a command. Default: no limit but timeout_secs.":
      "一条命令的 CPU 时间秒数。默认：除 timeout_secs 外不限。",
    "Confine commands.": "限制命令。",
    "Megabytes of memory for a command and its child processes. Default: 2048.":
      "一条命令及其启动的所有程序可用的内存，单位 MB。默认：2048。",
    "Commands may reach the network.": "命令可以访问网络。",
    "Processes and threads of a command. Default: 256.": "一条命令的进程和线程数。默认：256。",
    "Absolute paths that commands may read, besides the workspace and system libraries.":
      "除工作区和程序运行所需路径外，命令可以读取的绝对路径。",
    "Refuse to run commands if the configured backend is not available.": "所要求的后端不可用时拒绝运行命令。",
    "Seconds a command may run.": "一条命令可以运行的秒数。",
    "Absolute paths that commands may write, besides the workspace.": "除工作区外，命令可以写入的绝对路径。",
    "Turns passkeys on.": "启用通行密钥。",
    "Name that the browser shows.": "浏览器显示的名称。",
    "Let a passkey sign in without a bearer token; this opens the auth endpoints.":
      "允许不带 Bearer 用通行密钥登录：此时认证端点对外开放。",
    "Default execution mode of procedures.": "流程未自行指定时的执行方式。",
    "Runs of procedures at the same time, waiting ones included.": "同时运行的流程数上限；等待中的也计入。",
    "Tools to withhold from the agent.": "智能体不具备的工具。",
    "Bearer key of that service.": "该服务的 Bearer 密钥。",
    "Base URL of a service with OpenAI's /audio/transcriptions.":
      "提供 OpenAI /audio/transcriptions 的服务的基础 URL。",
    "Transcribe recordings that people send.": "将人们发送的录音转为文字。",
    "ISO 639-1 code of the spoken language. Default: the service detects it.":
      "所说语言的 ISO 639-1 代码。默认：由服务自动识别。",
    "Largest recording sent to it, in bytes.": "发送给它的录音大小上限，单位字节。",
    "Transcription model.": "用于转写的模型。",
    "Base URL of a service with OpenAI's /audio/speech.": "提供 OpenAI /audio/speech 的服务的基础 URL。",
    "Longest text sent to it, in characters; longer text is cut at a sentence.":
      "发送给它的文本长度上限，按字符计；更长的会在句子处截断。",
    "Speech model.": "用于发声的模型。",
    "Voice, as that service names it.": "音色，使用该服务的名称。",
    "Working directory of tools, absolute or below the home. Default: workspace.":
      "工具的工作目录，绝对路径或主目录下的路径。默认：workspace。",
    "Speak answers to microphone commands on this machine's loudspeaker.": "通过本机扬声器播放对麦克风指令的回答。",
    "Name of the linked session in the encrypted store. Setting it selects Web mode.":
      "加密存储中已关联会话的名称；填写后使用 Web 模式。",
    "Web mode: phone number of the account, to link by a typed code. Default: link by a QR code.":
      "Web 模式：账号的手机号码，用输入验证码的方式关联；不填则用二维码。",
    "Web mode. business: the account belongs to the agent. personal: it is yours; only listed numbers are answered, including you in the chat with yourself.":
      "Web 模式。business：账号归智能体使用。personal：这是你自己的账号；只回复列出的号码，包括你与自己的聊天。",
    "Web mode, in groups. allowlist: answer people in allowed_numbers. ignore: don't answer.":
      "Web 模式。allowlist：在群组中只处理 allowed_numbers 中的人发来的消息。ignore：忽略群组。",
    "Web mode: in groups, answer only messages that mention the account or reply to it.":
      "Web 模式：在群组中只回答提及该账号或回复它的消息。",
    "Web mode: version of the web client to report. Set it if the platform rejects the built-in one.":
      "Web 模式：平台拒绝内置版本时，向其报告的网页客户端版本。",
    "Web mode: public key that signs the certificate of a test server. Needs an api_url on this machine.":
      "Web 模式：为测试服务器证书签名的公钥。需要指向本机的 api_url。",
    "Robot kit: SafetyMonitor and SafeDrive": "机器人套件：SafetyMonitor 与 SafeDrive",
    "Let agents drive the robot.": "允许智能体驾驶机器人。",
    "What moves the robot.": "驱动机器人的部件。",
    "board: motors of a board. simulated: a robot in a simulated room.":
      "board：开发板上的电机。simulated：模拟房间中的机器人。",
    "Alias of the board that has the motors, such as arduino0.": "连接电机的开发板的别名，例如 arduino0。",
    "Left motor, numbered as in the board's firmware.": "左侧电机，按开发板固件的编号。",
    "Right motor, numbered as in the board's firmware.": "右侧电机，按开发板固件的编号。",
    "Simulated room.": "模拟哪个房间。",
    "The robot stops this many metres before an obstacle.": "机器人在障碍物前多少米处停下。",
    "The robot slows down within this multiple of the minimum distance.": "距离小于最小距离的这么多倍时，机器人减速。",
    "Highest speed within the slow zone and in turns, in m/s.": "减速区内和转弯时的最高速度，单位 m/s。",
    "Highest speed, in m/s.": "最高速度，单位 m/s。",
    "Highest speed in a direction without a distance sensor, in m/s; 0: no driving there.":
      "没有距离传感器朝向的方向上的最高速度，单位 m/s；0 表示不往该方向行驶。",
    "Longest movement, in seconds.": "单次移动的最长时间，单位秒。",
    "Age in seconds at which a sensor reading stops the robot.": "读数超过这么多秒，机器人就会停下。",
    "Pin of the drive board with a normally closed emergency switch to ground; HIGH: pressed, or a cut wire.":
      "驱动板上连接常闭接地开关的引脚；HIGH 表示已按下或断线。",
    "Pins of the drive board with front bump switches to ground; LOW: pressed.":
      "驱动板上连接前方接地碰撞开关的引脚；LOW 表示已按下。",
    "Sensors that see obstacles. The simulator has its own.": "检测障碍物的传感器。模拟器自带传感器。",
    "Alias of the board that the sensor is connected to.": "连接该传感器的开发板的别名。",
    "distance: distance to an obstacle in metres. bump: a bump switch.": "distance：与物体的距离（米）。bump：开关。",
    "Pin of the sensor, numbered as in the board's firmware.": "传感器的引脚，按开发板固件的编号。",
    "Direction of the sensor, in degrees clockwise: 0 ahead, 90 right, 180 behind.":
      "朝向，顺时针角度：0 为前方，90 为右方，180 为后方。",
    "Wake word at the local microphone": "本机麦克风的唤醒词",
    "Wake phrase before a command; case is ignored, part of a word is enough.":
      "说出指令前要说的词，不区分大小写；词的一部分也可以。",
    "Milliseconds of silence that end a command.": "静音多少毫秒视为说完。",
    "Least loudness of speech (RMS, 1 is the loudest). In a noisy room, the threshold rises by itself.":
      "视为语音的最低音量（RMS，最大为 1）；环境嘈杂时会自动提高。",
    "Longest command, in seconds; later speech is ignored.": "单条指令的最长时间，单位秒；之后的内容不再收录。",
    "Microphone, as named by the recorder program. Default: the system's.":
      "麦克风，使用录音程序中的名称。默认：系统麦克风。",
    "Program and arguments that write 16 kHz mono samples of 16 bits, started without a shell. Default: parec, arecord or ffmpeg, whichever is installed.":
      "输出 16 kHz、16 位单声道采样的程序和参数，不经 shell 启动。默认：已安装的 parec、arecord 或 ffmpeg。",
    "Recordings transcribed per hour; beyond that, commands are ignored until the limit recovers.":
      "每小时最多转写的录音数；达到后不再收听，直到最早的一条满一小时。",
    "Price of a minute of transcription in US dollars, to show the cost of the last hour.":
      "每分钟转写的费用（美元），用于显示最近一小时的费用。",
  },
};

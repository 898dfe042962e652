package main

// benchZh says in Chinese what a row measures. The rows themselves are English:
// make bench prints them, too.
var benchZh = map[string]string{
	"client.Get from the cache":                    "client.Get，从缓存读",
	"client.List of 100 of 10,000, by namespace":   "client.List，10,000 个里取 100 个，按 namespace",
	"client.List of 100 of 10,000, by field index": "client.List，10,000 个里取 100 个，按字段索引",

	"Kind: an update through predicate and handler to the queue": "Kind：一次更新经过 predicate 和 handler 进队列",

	"watch updates of all objects in turn, 1 handler":            "watch 更新，所有对象轮流变，1 个 handler",
	"watch updates of one hot object, 1 handler":                 "watch 更新，一个热点对象，1 个 handler",
	"watch updates, 8 handlers":                                  "watch 更新，8 个 handler",
	"watch updates, 1 handler, beside one that is blocked":       "watch 更新，1 个 handler，旁边还有一个卡住的",
	"initial list to the last OnAdd, 1,000 objects":              "从首次 list 到最后一个 OnAdd，1,000 个对象",
	"initial list to the last OnAdd, 10,000 objects":             "从首次 list 到最后一个 OnAdd，10,000 个对象",
	"initial list to the last OnAdd, 100,000 objects":            "从首次 list 到最后一个 OnAdd，100,000 个对象",
	"heap per cached object, 100,000 pods, 1 handler":            "缓存里每个对象占的堆内存，100,000 个 Pod，1 个 handler",
	"our list of 100,000 against our list of 10,000, per object": "我们自己的 list，100,000 个比 10,000 个，每个对象",

	"reflector alone: a watch event to the store":                "只有 reflector：一个 watch 事件到 store",
	"reflector alone: a list of 1,000 objects to the store":      "只有 reflector：1,000 个对象的 list 到 store",
	"queue alone: Update to the consumer, 1,000 objects in turn": "只有队列：从 Update 到消费者，1,000 个对象轮流",
	"queue alone: Update to the consumer, one hot object":        "只有队列：从 Update 到消费者，一个热点对象",

	"chapter 5 on client-go's reflector and queue, 1 handler":  "第 5 章配 client-go 的 reflector 和队列，1 个 handler",
	"chapter 5 on client-go's reflector and queue, 8 handlers": "第 5 章配 client-go 的 reflector 和队列，8 个 handler",
	"Indexer: Get":                            "Indexer：Get",
	"Indexer: Get under a writer":             "Indexer：Get，同时有人在写",
	"Indexer: Update":                         "Indexer：Update",
	"Indexer: Replace":                        "Indexer：Replace",
	"Indexer: ByIndex of 100":                 "Indexer：ByIndex，取 100 个",
	"Indexer: ByIndex of 100, under a writer": "Indexer：ByIndex，取 100 个，同时有人在写",
	"Indexer: ByIndex of 100, parallel":       "Indexer：ByIndex，取 100 个，并行",

	"workqueue: Add, Get, Forget, Done, 1 worker":  "workqueue：Add、Get、Forget、Done，1 个 worker",
	"workqueue: Add, Get, Forget, Done, 8 workers": "workqueue：Add、Get、Forget、Done，8 个 worker",
	"priority queue: the same, 1 worker":           "优先级队列：同上，1 个 worker",
	"priority queue: the same, 8 workers":          "优先级队列：同上，8 个 worker",
	"AddAfter of 100,000 items, all due":           "AddAfter，100,000 个 item，全部到期",

	"event to the start of Reconcile, 1 worker, p50":                           "从事件到 Reconcile 开始，1 个 worker，p50",
	"event to the start of Reconcile, 1 worker, p99":                           "从事件到 Reconcile 开始，1 个 worker，p99",
	"event to the start of Reconcile, 10 workers, p50":                         "从事件到 Reconcile 开始，10 个 worker，p50",
	"event to the start of Reconcile, 10 workers, p99":                         "从事件到 Reconcile 开始，10 个 worker，p99",
	"event to Reconcile at saturation, 1 worker":                               "从事件到 Reconcile，跑满时，1 个 worker",
	"event to Reconcile at saturation, 10 workers":                             "从事件到 Reconcile，跑满时，10 个 worker",
	"envtest: manager start to the first reconcile, 10,000 ConfigMaps":         "envtest：从 manager 启动到第一次 reconcile，10,000 个 ConfigMap",
	"envtest: peak memory of that":                                             "envtest：同上，内存峰值",
	"envtest: 2,000 objects created, all reconciled once: CPU of the operator": "envtest：新建 2,000 个对象，各 reconcile 一次：operator 的 CPU 时间",
}

// Watches ConfigMaps as operators do, through client-go's shared informer with the protobuf that typed clients ask for, and says what it sees as lines of
// JSON: first that it is in step, then every change. Each line of input is answered by all names in its cache.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"os"
	"sort"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

type line struct {
	Event           string   `json:"event"`
	Name            string   `json:"name,omitempty"`
	ResourceVersion string   `json:"resourceVersion,omitempty"`
	Names           []string `json:"names,omitempty"`
}

var (
	output = json.NewEncoder(os.Stdout)
	turn   sync.Mutex
)

func say(what line) {
	turn.Lock()
	defer turn.Unlock()
	if err := output.Encode(what); err != nil {
		os.Exit(1)
	}
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "how to reach the cluster")
	namespace := flag.String("namespace", "default", "where to look")
	flag.Parse()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		panic(err)
	}
	config.ContentType = "application/vnd.kubernetes.protobuf"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		panic(err)
	}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(*namespace))
	configMaps := factory.Core().V1().ConfigMaps()
	tell := func(event string, object any) {
		if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = gone.Obj
		}
		if found, ok := object.(*corev1.ConfigMap); ok {
			say(line{Event: event, Name: found.Name, ResourceVersion: found.ResourceVersion})
		}
	}
	_, err = configMaps.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) { tell("add", object) },
		UpdateFunc: func(old, object any) {
			if old.(*corev1.ConfigMap).ResourceVersion != object.(*corev1.ConfigMap).ResourceVersion {
				tell("update", object)
			}
		},
		DeleteFunc: func(object any) { tell("delete", object) },
	})
	if err != nil {
		panic(err)
	}
	stop := make(chan struct{})
	factory.Start(stop)
	factory.WaitForCacheSync(stop)
	say(line{Event: "synced"})
	for asked := bufio.NewScanner(os.Stdin); asked.Scan(); {
		found, err := configMaps.Lister().ConfigMaps(*namespace).List(labels.Everything())
		if err != nil {
			panic(err)
		}
		names := []string{}
		for _, one := range found {
			names = append(names, one.Name)
		}
		sort.Strings(names)
		say(line{Event: "list", Names: names})
	}
	close(stop)
}

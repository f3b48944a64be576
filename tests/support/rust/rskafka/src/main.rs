//! rskafka, which has no groups: it writes to partitions, and reads them from the offsets that it knows.
//!
//! `resuming JSON`: servers, topic, count, login. Prints JSON: what each of two readings has found.

use std::collections::BTreeMap;
use std::error::Error;
use std::time::Duration;

use chrono::Utc;
use rskafka::client::partition::{Compression, PartitionClient, UnknownTopicHandling};
use rskafka::client::{ClientBuilder, Credentials, SaslConfig};
use rskafka::record::Record;
use serde_json::{Value, json};

type Outcome<T> = Result<T, Box<dyn Error>>;

const PATIENCE: Duration = Duration::from_secs(60);
const BYTES: std::ops::Range<i32> = 1..1_000_000;
const WAIT_MS: i32 = 200;

struct Place {
    partition: PartitionClient,
    next: i64,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let said: Value =
        serde_json::from_str(&std::env::args().nth(1).ok_or("usage: resuming JSON")?)?;
    println!("{}", tokio::time::timeout(PATIENCE, resume(&said)).await??);
    Ok(())
}

async fn resume(said: &Value) -> Outcome<Value> {
    let servers = said["servers"].as_str().ok_or("no servers")?;
    let topic = said["topic"].as_str().ok_or("no topic")?;
    let count = said["count"].as_u64().ok_or("no count")?;
    let mut places = places(servers, topic, login(&said["login"])?).await?;
    write(&places, 0..count).await?;
    let first = read(&mut places, count).await?;
    write(&places, count..count + 1).await?;
    Ok(json!([first, read(&mut places, 1).await?]))
}

fn login(said: &Value) -> Outcome<Option<SaslConfig>> {
    let Some(mechanism) = said["mechanism"].as_str() else {
        return Ok(None);
    };
    let user = said["username"].as_str().ok_or("no username")?;
    let password = said["password"].as_str().ok_or("no password")?;
    let credentials = Credentials::new(user.into(), password.into());
    match mechanism {
        "PLAIN" => Ok(Some(SaslConfig::Plain(credentials))),
        "SCRAM-SHA-256" => Ok(Some(SaslConfig::ScramSha256(credentials))),
        other => Err(format!("no mechanism {other}").into()),
    }
}

async fn places(servers: &str, topic: &str, login: Option<SaslConfig>) -> Outcome<Vec<Place>> {
    let mut builder = ClientBuilder::new(servers.split(',').map(String::from).collect());
    if let Some(login) = login {
        builder = builder.sasl_config(login);
    }
    let client = builder.build().await?;
    let topics = client.list_topics().await?;
    let found = topics
        .iter()
        .find(|one| one.name == topic)
        .ok_or("no such topic")?;
    let mut places = Vec::new();
    for number in found.partitions.iter() {
        let partition = client
            .partition_client(topic, *number, UnknownTopicHandling::Error)
            .await?;
        places.push(Place { partition, next: 0 });
    }
    Ok(places)
}

/// Write numbers by turns to all partitions: rskafka always waits for all replicas.
async fn write(places: &[Place], numbers: std::ops::Range<u64>) -> Outcome<()> {
    for number in numbers {
        let place = &places[usize::try_from(number)? % places.len()];
        let value = Some(number.to_string().into_bytes());
        let record = Record {
            key: value.clone(),
            value,
            headers: BTreeMap::new(),
            timestamp: Utc::now(),
        };
        place
            .partition
            .produce(vec![record], Compression::NoCompression)
            .await?;
    }
    Ok(())
}

async fn read(places: &mut [Place], count: u64) -> Outcome<Vec<u64>> {
    let mut found = Vec::new();
    while (found.len() as u64) < count {
        for place in &mut *places {
            let (records, _) = place
                .partition
                .fetch_records(place.next, BYTES, WAIT_MS)
                .await?;
            for one in records {
                place.next = one.offset + 1;
                found.push(String::from_utf8(one.record.value.unwrap_or_default())?.parse()?);
            }
        }
    }
    found.sort();
    Ok(found)
}
